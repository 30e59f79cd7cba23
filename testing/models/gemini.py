"""Google's generateContent API, as Gemini CLI 0.61 speaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from testing.models.conversation import Speaker, Turn
from testing.models.face import (
    Block,
    Body,
    Called,
    Cut,
    Pause,
    Piece,
    Request,
    Said,
    event,
    paced,
    question_of,
    told,
)
from testing.models.steps import Act, Ask, Plan, Run, Write
from testing.models.tokens import Tokens

KINDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    529: "UNAVAILABLE",
}
WRAPPING = ("<session_context>",)
"""How the parts begin that Gemini CLI itself puts beside the user's."""
PLANS = re.compile(r"((?:\.\./)*[^\s\"'`\\]*\.gemini/tmp/[^\s\"'`\\]+/plans)\b")


class Gemini:
    name = "gemini"

    def takes(self, path: str) -> bool:
        return path.endswith((":generateContent", ":streamGenerateContent"))

    def read(self, path: str, headers: Mapping[str, str], body: Body) -> Request:
        declared = [tool for tools in body.get("tools") or () for tool in tools.get("functionDeclarations", ())]
        tools = frozenset(tool["name"] for tool in declared)
        turns = tuple(turn for content in body.get("contents", ()) for turn in _turns(content))
        streams = path.endswith(":streamGenerateContent")
        return Request(self.name, path, headers, body, turns, tools, _session(body), streams, auxiliary=not tools)

    def act(self, act: Act, request: Request) -> tuple[Block, ...]:
        match act:
            case Run(command, why):
                return (Called("run_shell_command", {"command": command, "description": why}),)
            case Write(path, content):
                return (Called("write_file", {"file_path": path, "content": content}),)
            case Ask():
                return (Called("ask_user", {"questions": [question_of(act) | {"type": "choice"}]}),)
            case Plan(text):
                plan = Called("write_file", {"file_path": f"{_plans(request)}/plan.md", "content": text})
                return (plan, Called("exit_plan_mode", {"plan_filename": "plan.md"}))

    def whole(self, request: Request, blocks: Sequence[Block]) -> Body:
        return _answer(request, [_part(block) for block in blocks if not isinstance(block, Cut)], "STOP")

    def stream(self, request: Request, blocks: Sequence[Block]) -> Iterator[Piece]:
        for block in blocks:
            yield from _streamed(request, block)
        yield event(_answer(request, [{"text": ""}], "STOP"))

    def failure(self, status: int, message: str) -> Body:
        return {"error": {"code": status, "message": message, "status": KINDS.get(status, "UNKNOWN")}}


def _turns(content: Body) -> Iterator[Turn]:
    parts = content.get("parts") or []
    if content.get("role") == "model":
        yield Turn(Speaker.MODEL)
        return
    if any("functionResponse" in part for part in parts):
        yield Turn(Speaker.TOOL)
    for text in told(parts):
        if not text.startswith(WRAPPING):
            yield Turn(Speaker.USER, text)


def _session(body: Body) -> str:
    """It has no name, but the first message tells where and when it was begun."""
    return next((text for content in body.get("contents", ()) for text in told(content.get("parts"))), "")


def _plans(request: Request) -> str:
    """In plan mode the prompt names a directory that the plan is to be in."""
    found = PLANS.search(json.dumps(request.body))
    return found[1] if found else "."


def _usage(tokens: Tokens) -> Body:
    """A third of what it said, it thought: that is counted apart."""
    thought = tokens.output // 3
    return {
        "promptTokenCount": tokens.prompt,
        "cachedContentTokenCount": tokens.cache_read,
        "candidatesTokenCount": tokens.output - thought,
        "thoughtsTokenCount": thought,
        "totalTokenCount": tokens.all,
    }


def _answer(request: Request, parts: list[Body], finish: str = "") -> Body:
    candidate: Body = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": _usage(request.tokens), "modelVersion": "scripted"}


def _part(block: Said | Called) -> Body:
    if isinstance(block, Said):
        return {"text": block.text}
    return {"functionCall": {"name": block.tool, "args": block.arguments}}


def _streamed(request: Request, block: Block) -> Iterator[Piece]:
    if isinstance(block, Cut):
        yield block
    elif isinstance(block, Called):
        yield event(_answer(request, [_part(block)]))
    else:
        for word in paced(block):
            yield word if isinstance(word, Pause) else event(_answer(request, [{"text": word}]))
