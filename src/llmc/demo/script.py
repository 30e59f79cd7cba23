"""Reads the script out of a prompt: the lines that begin with `demo:VERB`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from llmc.demo.steps import ScriptStep
from llmc.demo.text import lines_of

FAILURE_KINDS = ("rate_limit", "api", "network", "auth")
TRAILERS = "🤖 Generated with LLMC demo agent\n\nCo-Authored-By: Demo Agent <demo@localhost>"

_DEMO_LINE = re.compile(r"[ \t]*(?:[-*][ \t]+)?demo:([a-z][a-z-]*)(?:[ \t]+(.*))?")
_PATH = re.compile(r'(?:"([^"]+)"|(\S+))(?:[ \t](.*))?')
_ESCAPE = re.compile(r"\\([nt\\])")
_ESCAPED = {"n": "\n", "t": "\t", "\\": "\\"}
_TASK = re.compile(r"(?:#+[ \t]*)?(?:your |the )?task(?:[ \t]*:[ \t]*(.*))?", re.IGNORECASE)
_PLAIN_MESSAGES = "plain-messages"


class Script(NamedTuple):
    """`steps` is empty when the prompt has none of its own."""

    steps: tuple[ScriptStep, ...]
    trailers: bool


class NoteIdea(NamedTuple):
    """What a prompt without a script is turned into: a note to write and commit."""

    path: str
    line: str
    message: str


def parse(prompt: str) -> Script:
    found = [match for line in lines_of(prompt) if (match := _DEMO_LINE.fullmatch(line))]
    trailers = all(match[1] != _PLAIN_MESSAGES for match in found)
    read = (_step(match[1], (match[2] or "").strip()) for match in found if match[1] != _PLAIN_MESSAGES)
    return Script(tuple(step._replace(trailers=trailers) for step in read), trailers)


def with_trailers(message: str) -> str:
    return f"{message.rstrip()}\n\n{TRAILERS}\n"


def note_idea(prompt: str) -> NoteIdea:
    line = _meaningful_line(prompt)
    words = re.findall(r"\w+", line)[:6]
    slug = "-".join(words).lower()[:50].strip("-") or "note"
    subject = " ".join(words)[:60] or "the prompt"
    return NoteIdea(f"notes/{slug}.md", line, f"Add a note on {subject}")


def _meaningful_line(prompt: str) -> str:
    """The first line with a word in it; after a "Task" heading where there is one."""
    lines = lines_of(prompt)
    for at, line in enumerate(lines):
        if heading := _TASK.fullmatch(line.strip()):
            lines = [heading[1] or "", *lines[at + 1 :]]
            break
    worded = (line.strip().lstrip("#").strip() for line in lines if re.search(r"\w", line))
    return next((line for line in worded if not _DEMO_LINE.fullmatch(line)), "")


def _step(verb: str, rest: str) -> ScriptStep:
    line = f"demo:{verb} {rest}".strip()
    reader = _READERS.get(verb)
    if reader is None:
        return ScriptStep("misunderstood", text=f"`{line}`: there is no such verb")
    try:
        return reader(verb, rest)
    except ValueError as wrong:
        return ScriptStep("misunderstood", text=f"`{line}`: it needs {wrong}")


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED[found[1]], text)


def _path_and_rest(rest: str) -> tuple[str, str]:
    match = _PATH.fullmatch(rest)
    if match is None:
        raise ValueError("a path")
    return match[1] or match[2], match[3] or ""


def _content(verb: str, rest: str) -> ScriptStep:
    """The text always ends its last line, as editors do."""
    path, text = _path_and_rest(rest)
    content = _unescaped(text)
    return ScriptStep(verb, path, content if not content or content.endswith("\n") else content + "\n")


def _replacement(verb: str, rest: str) -> ScriptStep:
    path, change = _path_and_rest(rest)
    old, arrow, new = f"{change} ".partition(" => ")
    if not (old and arrow):
        raise ValueError("PATH OLD => NEW")
    return ScriptStep(verb, path, _unescaped(old), _unescaped(new.rstrip()))


def _path(verb: str, rest: str) -> ScriptStep:
    return ScriptStep(verb, _path_and_rest(rest)[0])


def _some_text(verb: str, rest: str) -> ScriptStep:
    if not rest:
        raise ValueError("some text")
    return ScriptStep(verb, text=_unescaped(rest))


def _any_text(verb: str, rest: str) -> ScriptStep:
    return ScriptStep(verb, text=_unescaped(rest))


def _command(verb: str, rest: str) -> ScriptStep:
    if not rest:
        raise ValueError("a command")
    return ScriptStep(verb, text=rest)


def _seconds(verb: str, rest: str) -> ScriptStep:
    if not re.fullmatch(r"\d{1,9}(\.\d+)?|\.\d+", rest, re.ASCII):
        raise ValueError("a number of seconds")
    return ScriptStep(verb, number=float(rest))


def _failure(verb: str, rest: str) -> ScriptStep:
    kind, _, message = rest.partition(" ")
    if kind not in FAILURE_KINDS:
        raise ValueError(f"a kind: {', '.join(FAILURE_KINDS)}")
    return ScriptStep(verb, kind=kind, text=message.strip() or f"{kind} failure on request")


def _tokens(verb: str, rest: str) -> ScriptStep:
    """The name of the model comes last, where it is another one than ours."""
    *counts, last = rest.split() or [""]
    words = [*counts, last] if last and not last.isdecimal() else [*counts, last, "demo"]
    if not 2 <= len(words) - 1 <= 4 or not all(each.isdecimal() and len(each) <= 12 for each in words[:-1]):
        raise ValueError("INPUT OUTPUT [CACHE_READ [CACHE_WRITE]] [MODEL]")
    return ScriptStep(verb, text=" ".join(words))


def _exit_code(verb: str, rest: str) -> ScriptStep:
    return ScriptStep(verb, number=_whole(rest or "1", "an exit code", 255))


def _signal(verb: str, rest: str) -> ScriptStep:
    return ScriptStep(verb, number=_whole(rest, "a signal number", 64))


def _alone(verb: str, rest: str) -> ScriptStep:
    return ScriptStep(verb)


def _whole(rest: str, what: str, most: int) -> int:
    if not re.fullmatch(r"\d{1,3}", rest, re.ASCII) or int(rest) > most:
        raise ValueError(f"{what} from 0 to {most}")
    return int(rest)


_READERS: dict[str, Callable[[str, str], ScriptStep]] = {
    "write": _content,
    "append": _content,
    "replace": _replacement,
    "delete": _path,
    "commit": _some_text,
    "amend": _any_text,
    "sleep": _seconds,
    "say": _any_text,
    "ask": _some_text,
    "permit": _command,
    "fail": _failure,
    "crash": _exit_code,
    "signal": _signal,
    "spend": _tokens,
    **dict.fromkeys(("hang", "resolve", "abort-rebase", "nothing"), _alone),
}
