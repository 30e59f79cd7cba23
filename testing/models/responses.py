"""OpenAI's Responses API, as Codex 0.166 speaks it."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from testing.models.chat import openai_failure
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
)
from testing.models.steps import Act, Ask, Plan, Run, Write
from testing.models.tokens import Tokens

WRAPPING = ("<environment_context>", "# AGENTS.md instructions", "<user_instructions>", "<turn_aborted>", "<skill>")
"""How the messages begin that Codex itself sends as the user's."""
YIELD_MS = 30_000


class Responses:
    name = "responses"

    def takes(self, path: str) -> bool:
        return path.endswith("/responses")

    def read(self, path: str, headers: Mapping[str, str], body: Body) -> Request:
        items = _items(body)
        tools = frozenset(_tool_names([*(body.get("tools") or ()), *items]))
        turns = tuple(turn for item in items for turn in _turns(item))
        session = str(body.get("prompt_cache_key", ""))
        auxiliary = not tools or _makes_a_title(body)
        return Request(self.name, path, headers, body, turns, tools, session, bool(body.get("stream")), auxiliary)

    def act(self, act: Act, request: Request) -> tuple[Block, ...]:
        match act:
            case Run():
                return (_shell_call(act, request.tools),)
            case Write(path, content):
                return (_patch_call(path, content, request.tools),)
            case Ask():
                return (Called("request_user_input", {"questions": [question_of(act) | {"id": "approach"}]}),)
            case Plan(text):
                return (Said(f"<proposed_plan>\n{text}\n</proposed_plan>"),)

    def whole(self, request: Request, blocks: Sequence[Block]) -> Body:
        items = [_item(block, request) for block in blocks if not isinstance(block, Cut)]
        return _response(request) | {"status": "completed", "output": items, "usage": _usage(request.tokens)}

    def stream(self, request: Request, blocks: Sequence[Block]) -> Iterator[Piece]:
        numbers = itertools.count()
        for piece in _events(request, blocks):
            if isinstance(piece, dict):
                yield event(piece | {"sequence_number": next(numbers)}, piece["type"])
            else:
                yield piece

    def failure(self, status: int, message: str) -> Body:
        return openai_failure(status, message)


def _items(body: Body) -> list[Body]:
    told_so_far = body.get("input", [])
    if isinstance(told_so_far, str):
        return [{"type": "message", "role": "user", "content": told_so_far}]
    return list(told_so_far)


def _tool_names(tools: Iterable[Body]) -> Iterator[str]:
    """Tools come as themselves, in namespaces, and as an item of the conversation."""
    for tool in tools:
        if "tools" in tool:
            yield from _tool_names(tool["tools"])
        elif tool.get("type") in ("function", "custom"):
            yield tool["name"]


def _makes_a_title(body: Body) -> bool:
    return "thread_title" in json.dumps(body.get("client_metadata") or {})


def _turns(item: Body) -> Iterator[Turn]:
    kind = item.get("type", "message")
    if kind.endswith("_output"):
        yield Turn(Speaker.TOOL)
    elif kind.endswith("_call") or item.get("role") == "assistant":
        yield Turn(Speaker.MODEL)
    elif item.get("role") == "user":
        texts = [text for text in told(item.get("content")) if not text.startswith(WRAPPING)]
        yield from (Turn(Speaker.USER, text) for text in texts)


def _shell_call(run: Run, tools: frozenset[str]) -> Called:
    """Newer models write JavaScript that calls the tools; older ones call them, under three names over time."""
    asked: Body = {"sandbox_permissions": "require_escalated", "justification": run.why} if run.outside_sandbox else {}
    if "exec" in tools:
        arguments = json.dumps({"cmd": run.command, "yield_time_ms": YIELD_MS, **asked})
        return _code(f"const done = await tools.exec_command({arguments});\ntext(done.output);\n")
    if "exec_command" in tools:
        return Called("exec_command", {"cmd": run.command, **asked})
    if "shell_command" in tools:
        return Called("shell_command", {"command": run.command, **asked})
    return Called("shell", {"command": ["bash", "-lc", run.command]})


def _patch_call(path: str, content: str, tools: frozenset[str]) -> Called:
    lines = "".join(f"+{line}\n" for line in content.splitlines())
    patch = f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"
    if "exec" in tools:
        return _code(f"text(await tools.apply_patch({json.dumps(patch)}));\n")
    if "apply_patch" in tools:
        return Called("apply_patch", patch)
    return _shell_call(Run(f"apply_patch <<'EOF'\n{patch}EOF"), tools)


def _code(javascript: str) -> Called:
    return Called("exec", f'// @exec: {{"yield_time_ms": {YIELD_MS + 10_000}}}\n{javascript}')


def _usage(tokens: Tokens) -> Body:
    """What was written to a cache has no price of its own."""
    return {
        "input_tokens": tokens.prompt,
        "input_tokens_details": {"cached_tokens": tokens.cache_read},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.output // 2},
        "total_tokens": tokens.all,
    }


def _response(request: Request) -> Body:
    model = request.body.get("model", "")
    base = {"id": unique("resp_"), "object": "response", "created_at": int(time.time()), "model": model}
    return {**base, "status": "in_progress", "output": []}


def _item(block: Said | Called, request: Request) -> Body:
    if isinstance(block, Said):
        content = [{"type": "output_text", "text": block.text, "annotations": []}]
        message = {"type": "message", "id": unique("msg_"), "role": "assistant"}
        return {**message, "status": "completed", "content": content}
    # Where the tools are told as an item of the conversation, they live in a namespace.
    namespaced = any(item.get("type") == "additional_tools" for item in _items(request.body))
    call = {"status": "completed", "call_id": unique("call_"), "name": block.tool}
    if namespaced:
        call["namespace"] = "functions"
    if isinstance(block.arguments, str):
        return {"type": "custom_tool_call", "id": unique("ctc_"), **call, "input": block.arguments}
    return {"type": "function_call", "id": unique("fc_"), **call, "arguments": json.dumps(block.arguments)}


def _events(request: Request, blocks: Sequence[Block]) -> Iterator[Body | Pause | Cut]:
    response, output = _response(request), []
    yield {"type": "response.created", "response": response}
    for index, block in enumerate(blocks):
        if isinstance(block, Cut):
            yield block
            return
        item = _item(block, request)
        yield from _streamed(index, block, item)
        output.append(item)
    done = response | {"status": "completed", "output": output, "usage": _usage(request.tokens)}
    yield {"type": "response.completed", "response": done}


def _streamed(index: int, block: Said | Called, item: Body) -> Iterator[Body | Pause]:
    begun: dict[str, Any] = {"status": "in_progress", "content": []} if isinstance(block, Said) else {}
    yield {"type": "response.output_item.added", "output_index": index, "item": item | begun}
    if isinstance(block, Said):
        yield from _streamed_text(index, block, item["id"])
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _streamed_text(index: int, said: Said, item_id: str) -> Iterator[Body | Pause]:
    where = {"item_id": item_id, "output_index": index, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": []}
    yield {"type": "response.content_part.added", **where, "part": empty}
    for word in paced(said):
        yield word if isinstance(word, Pause) else {"type": "response.output_text.delta", **where, "delta": word}
    yield {"type": "response.output_text.done", **where, "text": said.text}
