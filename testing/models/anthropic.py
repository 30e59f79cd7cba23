"""Anthropic's Messages API, as Claude Code 2.1 speaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
    unique,
    working_directory,
)
from testing.models.steps import Act, Ask, Plan, Run, Write
from testing.models.tokens import Tokens

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
WRAPPING = re.compile(r"\s*<[a-z][\w-]*[\s>]|\[Request interrupted by user[^\]]*\]")
"""How the blocks begin that Claude Code itself puts beside the user's: reminders, commands, their output."""
QUEUED = re.compile(
    r"The user sent a new message while you were working:\n(.*?)\n\nIMPORTANT: After completing", re.DOTALL
)
"""How it hands over a prompt that was submitted between two steps of a turn."""
NOT_THE_AGENT = ("[SUGGESTION MODE:", "Your task is to create a detailed summary")
PLAN_FILE = re.compile(r"(/[^\s\"'`\\]+/\.claude/[^\s\"'`\\]*plans/[^\s\"'`\\]*\.md)")


class Anthropic:
    name = "anthropic"

    def takes(self, path: str) -> bool:
        return path.endswith("/v1/messages")

    def read(self, path: str, headers: Mapping[str, str], body: Body) -> Request:
        tools = frozenset(tool.get("name", "") for tool in body.get("tools") or ())
        turns = tuple(turn for message in body.get("messages", ()) for turn in _turns(message))
        newest = next((turn.text for turn in reversed(turns) if turn.speaker is Speaker.USER), "")
        auxiliary = not tools or newest.startswith(NOT_THE_AGENT)
        streams = bool(body.get("stream"))
        return Request(self.name, path, headers, body, turns, tools, _session(body), streams, auxiliary)

    def act(self, act: Act, request: Request) -> tuple[Block, ...]:
        match act:
            case Run(command, why, in_background=later):
                more = {"run_in_background": True} if later else {}
                return (Called("Bash", {"command": command, "description": why, **more}),)
            case Write(path, content):
                where = f"{working_directory(request)}/{path}"
                return (Called("Write", {"file_path": where, "content": content}),)
            case Ask():
                return (Called("AskUserQuestion", {"questions": [question_of(act) | {"multiSelect": False}]}),)
            case Plan(text):
                plan = Called("Write", {"file_path": _plan_file(request), "content": text})
                return (plan, Called("ExitPlanMode", {"plan": text}))

    def whole(self, request: Request, blocks: Sequence[Block]) -> Body:
        content = [_content(block) for block in blocks if not isinstance(block, Cut)]
        told = {"content": content, "stop_reason": _stop_reason(blocks), "usage": _usage(request.tokens)}
        return _message(request) | told

    def stream(self, request: Request, blocks: Sequence[Block]) -> Iterator[Piece]:
        yield _event("message_start", message=_message(request))
        for index, block in enumerate(blocks):
            yield from _streamed(index, block)
        ending = {"stop_reason": _stop_reason(blocks), "stop_sequence": None}
        yield _event("message_delta", delta=ending, usage=_usage(request.tokens))
        yield _event("message_stop")

    def failure(self, status: int, message: str) -> Body:
        return {"type": "error", "error": {"type": KINDS.get(status, "api_error"), "message": message}}


def _turns(message: Body) -> Iterator[Turn]:
    if message["role"] == "assistant":
        yield Turn(Speaker.MODEL)
        return
    content = message["content"]
    if isinstance(content, list) and any(block.get("type") == "tool_result" for block in content):
        yield Turn(Speaker.TOOL)
    for text in told(content):
        if message["role"] == "user" and not WRAPPING.match(text):
            yield Turn(Speaker.USER, text)
        else:
            yield from (Turn(Speaker.USER, queued[1]) for queued in QUEUED.finditer(text))


def _session(body: Body) -> str:
    try:
        return str(json.loads(body["metadata"]["user_id"])["session_id"])
    except (KeyError, TypeError, ValueError):
        return ""


def _plan_file(request: Request) -> str:
    """In plan mode the prompt names a file that the plan is to be in."""
    found = PLAN_FILE.search(json.dumps(request.body))
    return found[1] if found else f"{working_directory(request)}/plan.md"


def _message(request: Request) -> Body:
    return {
        "id": unique("msg_"),
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", ""),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(request.tokens) | {"output_tokens": 1},
    }


def _usage(tokens: Tokens) -> Body:
    return {
        "input_tokens": tokens.input,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation": {"ephemeral_5m_input_tokens": tokens.cache_write, "ephemeral_1h_input_tokens": 0},
        "output_tokens": tokens.output,
    }


def _content(block: Said | Called) -> Body:
    if isinstance(block, Said):
        return {"type": "text", "text": block.text}
    return {"type": "tool_use", "id": unique("toolu_"), "name": block.tool, "input": block.arguments}


def _streamed(index: int, block: Block) -> Iterator[Piece]:
    if isinstance(block, Cut):
        yield block
        return
    whole = _content(block)
    empty: Body = {"text": ""} if isinstance(block, Said) else {"input": {}}
    yield _event("content_block_start", index=index, content_block=whole | empty)
    if isinstance(block, Said):
        for word in paced(block):
            yield word if isinstance(word, Pause) else _delta(index, type="text_delta", text=word)
    else:
        yield _delta(index, type="input_json_delta", partial_json=json.dumps(block.arguments))
    yield _event("content_block_stop", index=index)


def _delta(index: int, **delta: str) -> str:
    return _event("content_block_delta", index=index, delta=delta)


def _event(kind: str, **data: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    return event({"type": kind, **data}, kind)


def _stop_reason(blocks: Sequence[Block]) -> str:
    return "tool_use" if any(isinstance(block, Called) for block in blocks) else "end_turn"
