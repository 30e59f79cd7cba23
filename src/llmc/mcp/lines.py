"""One connection over standard input and output, a message in each line: a pipe of a client, or a worker's socket.

The SDK's own reader passes over what is no message; here that is answered, so that nobody waits for ever.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO

import anyio
from mcp.server.lowlevel.server import Server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from llmc.commands.shared.beside import beside
from llmc.host.standard_streams import take_standard_streams

LONGEST_LINE = 32 << 20
ANSWERS_WITHIN_SECS = 5.0
"""After the client has closed its end: it may still read."""


async def serve_lines(server: Server[Any]) -> None:
    """Until the client closes its end."""
    read, write = take_standard_streams()
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    unanswered = Unanswered()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_hear, read, to_server, outgoing.clone(), unanswered)
        tasks.start_soon(_say, write, from_server, unanswered)
        await server.run(incoming, outgoing, server.create_initialization_options())


class Unanswered:
    """The ids of the requests whose answer is not out yet."""

    def __init__(self) -> None:
        self._ids: set[str | int] = set()
        self._none = asyncio.Event()
        self._none.set()

    def heard(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._ids.add(message.id)
            self._none.clear()
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def said(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._settle(message.id)

    def _settle(self, number: object) -> None:
        self._ids -= {number} if isinstance(number, str | int) else set()
        if not self._ids:
            self._none.set()

    async def all_answered(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._none.wait(), ANSWERS_WITHIN_SECS)


async def _hear(read: BinaryIO, to_server: Any, refusals: Any, unanswered: Unanswered) -> None:  # noqa: ANN401
    """The streams are those of the SDK."""
    async with to_server, refusals:
        while line := await beside(lambda: read.readline(LONGEST_LINE)):
            if not line.endswith(b"\n") and len(line) == LONGEST_LINE:
                await beside(lambda: _skip_line(read))
                await refusals.send(_refusal(None, INVALID_REQUEST, f"the message is longer than {LONGEST_LINE} bytes"))
            elif line.strip():
                message = _message(line)
                unanswered.heard(message.message)
                await (refusals if isinstance(message, Refused) else to_server).send(message)
        await unanswered.all_answered()


class Refused(SessionMessage):
    """Goes back to whoever sent what is no message."""


def _message(line: bytes) -> SessionMessage:
    """Of a request whose id is none, the SDK makes a notification, which nobody would answer."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _refused(line)
    silent = isinstance(message, JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line)
    return _refused(line) if silent else SessionMessage(message)


def _refused(line: bytes) -> Refused:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(None, PARSE_ERROR, "the line is not JSON")
    number = found.get("id") if isinstance(found, dict) else None
    known = number if isinstance(number, str | int) and not isinstance(number, bool) else None
    return _refusal(known, INVALID_REQUEST, "the line is no JSON-RPC message: it needs jsonrpc, id, method and params")


def _refusal(number: str | int | None, code: int, words: str) -> Refused:
    return Refused(JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=words)))


def _skip_line(read: BinaryIO) -> None:
    while (part := read.readline(LONGEST_LINE)) and not part.endswith(b"\n"):
        pass


async def _say(write: BinaryIO, from_server: Any, unanswered: Unanswered) -> None:  # noqa: ANN401
    async with from_server:
        async for told in from_server:
            line = told.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            await asyncio.shield(beside(partial(_write, write, line)))
            unanswered.said(told.message)


def _write(write: BinaryIO, line: bytes) -> None:
    with suppress(BrokenPipeError):  # the client has gone; its end of the other stream says so, too
        write.write(line)
        write.flush()
