"""What every face of the model server does: read a request, spell the model's acts as tool calls, tell an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import uuid4

from testing.models.conversation import Turn
from testing.models.steps import Act, Ask, Commit, Drop, Text, Use
from testing.models.tokens import Tokens

Body = dict[str, Any]
FREE = Tokens()
WORKING_DIRECTORY = re.compile(r"(?:[Ww]orking directory|working in the directory|cwd)[^/\n]{0,20}(/[^\s\"'<\\]+)")
CHANGED_FILE = re.compile(r"\+\+\+ b/([^\s\"\\]+)")
"""In the diff that a commit message is asked for."""


@dataclass(frozen=True, slots=True)
class Request:
    face: str
    path: str
    headers: Mapping[str, str]
    """By their names in lower case."""
    body: Body
    turns: tuple[Turn, ...]
    """Without what the CLI itself adds to the user's words."""
    tools: frozenset[str]
    session: str
    streams: bool
    auxiliary: bool
    """Not the agent at work: a title, a summary, a suggestion, a probe."""
    tokens: Tokens = FREE
    """What its answer costs."""


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    over_secs: float = 0.0


@dataclass(frozen=True, slots=True)
class Called:
    tool: str
    arguments: Body | str
    """A string for tools that take plain text."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection breaks here."""


Block = Said | Called | Cut


@dataclass(frozen=True, slots=True)
class Pause:
    secs: float


Piece = str | Pause | Cut
"""A part of a streamed answer, as it goes over the wire."""


class Face(Protocol):
    """One API. Everything is pure: the server does the talking."""

    @property
    def name(self) -> str: ...

    def takes(self, path: str) -> bool: ...

    def read(self, path: str, headers: Mapping[str, str], body: Body) -> Request: ...

    def act(self, act: Act, request: Request) -> tuple[Block, ...]: ...

    def whole(self, request: Request, blocks: Sequence[Block]) -> Body: ...

    def stream(self, request: Request, blocks: Sequence[Block]) -> Iterator[Piece]: ...

    def failure(self, status: int, message: str) -> Body: ...


COMMITS_BY_ITSELF = frozenset({"aider"})
"""Faces of CLIs that commit every file that they write."""


def blocks_of(face: Face, step: Text | Act | Use | Commit | Drop, request: Request) -> tuple[Block, ...]:
    match step:
        case Text(text, over_secs):
            return (Said(text, over_secs),)
        case Commit():
            act = step.as_write() if face.name in COMMITS_BY_ITSELF else step.as_run()
            return (Said("I will make the change now."), *face.act(act, request))
        case Drop():
            return (Said("I will start by reading the code and then"), Cut())
        case Use(tool, arguments):
            return (_used(tool, arguments, request.tools),)
        case _:
            return face.act(step, request)


def _used(tool: str, arguments: Body, tools: frozenset[str]) -> Called:
    """A tool of the CLI itself, or of the server `llmc`: each CLI puts its name before it in a way of its own.

    For some the model writes JavaScript.
    """
    if tool in tools:
        return Called(tool, arguments)
    usual = f"mcp__llmc__{tool}"
    if "exec" in tools:
        return Called("exec", f"text(JSON.stringify(await tools.{usual}({json.dumps(arguments)})));\n")
    return Called(next((name for name in sorted(tools) if name.endswith(tool) and "llmc" in name), usual), arguments)


TITLE = {"title": "Scripted work"}
JUDGEMENTS = {
    "reasoning": "scripted",
    "next_speaker": "user",
    "model_choice": "flash",
    "corrected": "",
    "complexity_score": 10,
    "complexity_reasoning": "scripted",
}
"""What Gemini CLI asks its small model: which model to use, who speaks next."""


def auxiliary_answer(request: Request) -> Text:
    """One answer that fits every question of its kind."""
    changed = CHANGED_FILE.search(json.dumps(request.body)) if request.face in COMMITS_BY_ITSELF else None
    if changed is not None:
        return Text(f"Add {changed[1]}")
    wishes = json.dumps([request.body.get(key) for key in ("generationConfig", "output_config", "text")])
    if "schema" not in wishes.lower():
        return Text(TITLE["title"])
    return Text(json.dumps(TITLE | JUDGEMENTS if request.face == "gemini" else TITLE))


def question_of(ask: Ask) -> Body:
    options = [{"label": option, "description": option} for option in ask.options]
    return {"question": ask.question, "header": "Approach", "options": options}


def working_directory(request: Request) -> str:
    """Where the CLI tells the model that it works."""
    found = WORKING_DIRECTORY.search(json.dumps(request.body, ensure_ascii=False))
    return found[1] if found else "."


def told(content: object) -> list[str]:
    """The texts of a message, which is a string or a list of parts."""
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


def event(data: Body, name: str = "") -> str:
    """One server-sent event."""
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"


def paced(said: Said) -> Iterator[Pause | str]:
    """Its words, with pauses between them when it takes some time."""
    words = re.findall(r"\s*\S+|\s+$", said.text) or [said.text]
    for word in words:
        if said.over_secs:
            yield Pause(said.over_secs / len(words))
        yield word


def unique(prefix: str) -> str:
    return prefix + uuid4().hex[:20]
