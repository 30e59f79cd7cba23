"""A client of `llmc mcp`: that of the official SDK, over a process of its own, a worker's socket or the web server."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

from testing.story import LLMC

PROTOCOL = "2025-06-18"
ALL = "read,delegate,message,answer,review,accept"


@dataclass(slots=True)
class Tools:
    client: Client
    told: list[str] = field(default_factory=list)
    """The words of all progress."""

    async def names(self) -> list[str]:
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def try_call(self, name: str, **arguments: object) -> CallToolResult:
        async def tell(progress: float, total: float | None, message: str | None) -> None:
            self.told.append(message or "")

        return await self.client.call_tool(name, arguments, progress_callback=tell)

    async def call(self, name: str, **arguments: object) -> Any:  # noqa: ANN401 - whatever the tool answers
        result = await self.try_call(name, **arguments)
        text = text_of(result)
        assert not result.is_error, f"{name} {arguments}: {text}"
        assert result.structured_content == json.loads(text)
        return json.loads(text)

    async def refused(self, name: str, **arguments: object) -> str:
        """What the tool says where it does not do it."""
        result = await self.try_call(name, **arguments)
        text = text_of(result)
        assert result.is_error, f"{name} {arguments}: {text}"
        assert text.startswith("error: "), text
        assert "\nhint: " in text
        return text


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def server_words(root: str, *words: str) -> list[str]:
    return [*LLMC, "--root", root, "mcp", *words]


@asynccontextmanager
async def over_stdio(argv: Sequence[str], **more: Any) -> AsyncIterator[Tools]:  # noqa: ANN401 - options of the client
    server = StdioServerParameters(command=argv[0], args=list(argv[1:]), env=dict(os.environ))
    async with Client(server, **more) as client:
        yield Tools(client)


@asynccontextmanager
async def tools_of(root: str, allow: str = ALL, **more: Any) -> AsyncIterator[Tools]:  # noqa: ANN401
    async with over_stdio(server_words(root, "--allow", allow), **more) as tools:
        yield tools


# --- without a client -------------------------------------------------------------------------------


def raw_call(number: int, method: str, params: object) -> bytes:
    """A request, as it goes over the wire."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def raw_session(*lines: bytes) -> bytes:
    """What a client says first, and these."""
    client = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    begun = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
    return b"".join((raw_call(1, "initialize", client), begun, *lines))
