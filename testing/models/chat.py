"""OpenAI's chat completions API, as opencode 1.18, Kilo 7.7, Qwen Code 0.24, Copilot CLI 1.0 and Kimi Code 2.1 do."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence

from testing.models.chat_tools import call_of
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
    told,
    unique,
)
from testing.models.steps import Act
from testing.models.tokens import Tokens

KINDS = {401: "invalid_api_key", 429: "rate_limit_exceeded", 529: "overloaded"}
SPEAKERS = {"user": Speaker.USER, "assistant": Speaker.MODEL, "tool": Speaker.TOOL}
WRAPPING = ("<system-reminder>", "<environment_details>")
BESIDE_PROMPT = re.compile(r"\s*<(current_datetime|system_reminder|reminder)>.*?</\1>\s*", re.DOTALL)
"""What Copilot CLI puts into the same text as the user's words."""
NOT_THE_AGENT = ("Managed memory has TWO directories.",)
"""How Qwen Code asks, after a turn, what of it to remember."""


class Chat:
    name = "chat"

    def takes(self, path: str) -> bool:
        return path.endswith("/chat/completions")

    def read(self, path: str, headers: Mapping[str, str], body: Body) -> Request:
        tools = frozenset(tool["function"]["name"] for tool in body.get("tools") or ())
        turns = tuple(turn for message in body.get("messages", ()) for turn in _turns(message))
        session = headers.get("x-session-id", "")
        newest = next((turn.text for turn in reversed(turns) if turn.speaker is Speaker.USER), "")
        auxiliary = not tools or newest.startswith(NOT_THE_AGENT)
        return Request(self.name, path, headers, body, turns, tools, session, bool(body.get("stream")), auxiliary)

    def act(self, act: Act, request: Request) -> tuple[Block, ...]:
        return call_of(act, request)

    def whole(self, request: Request, blocks: Sequence[Block]) -> Body:
        message: Body = {"role": "assistant", "content": "".join(b.text for b in blocks if isinstance(b, Said))}
        calls = [_call(block) for block in blocks if isinstance(block, Called)]
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": _finish_reason(blocks)}
        return _completion(request, "chat.completion") | {"choices": [choice], "usage": _usage(request.tokens)}

    def stream(self, request: Request, blocks: Sequence[Block]) -> Iterator[Piece]:
        chunk = _completion(request, "chat.completion.chunk")
        yield _delta(chunk, {"role": "assistant", "content": ""})
        calls = 0
        for block in blocks:
            yield from _streamed(chunk, block, calls)
            calls += isinstance(block, Called)
        yield _delta(chunk, {}, _finish_reason(blocks))
        yield event(chunk | {"choices": [], "usage": _usage(request.tokens)})
        yield "data: [DONE]\n\n"

    def failure(self, status: int, message: str) -> Body:
        return openai_failure(status, message)


def openai_failure(status: int, message: str) -> Body:
    kind = KINDS.get(status, "server_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


def _turns(message: Body) -> Iterator[Turn]:
    speaker = SPEAKERS.get(message["role"])
    if speaker is Speaker.USER:
        words = (text for text in told(message["content"]) if not text.lstrip().startswith(WRAPPING))
        yield from (Turn(speaker, text) for text in map(_without_notes, words) if text)
    elif speaker is not None:
        yield Turn(speaker)


def _without_notes(text: str) -> str:
    return BESIDE_PROMPT.sub("", text)


def _usage(tokens: Tokens) -> Body:
    return {
        "prompt_tokens": tokens.prompt,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read},
        "completion_tokens": tokens.output,
        "total_tokens": tokens.all,
    }


def _completion(request: Request, kind: str) -> Body:
    model = request.body.get("model", "")
    return {"id": unique("chatcmpl-"), "object": kind, "created": int(time.time()), "model": model}


def _call(called: Called) -> Body:
    function = {"name": called.tool, "arguments": json.dumps(called.arguments)}
    return {"id": unique("call_"), "type": "function", "function": function}


def _streamed(chunk: Body, block: Block, index: int) -> Iterator[Piece]:
    if isinstance(block, Cut):
        yield block
    elif isinstance(block, Called):
        yield _delta(chunk, {"tool_calls": [{"index": index, **_call(block)}]})
    else:
        for word in paced(block):
            yield word if isinstance(word, Pause) else _delta(chunk, {"content": word})


def _delta(chunk: Body, delta: Body, finish: str | None = None) -> str:
    return event(chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _finish_reason(blocks: Sequence[Block]) -> str:
    return "tool_calls" if any(isinstance(block, Called) for block in blocks) else "stop"
