"""The same tools at an address of `llmc web`, which checks first who asks. Every request stands for itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import ASGIApp

from llmc.mcp.desk import Desk
from llmc.mcp.server import Context, make_server
from llmc.root import Root

MOST_BYTES = 32 << 20
"""Whoever serves it has a bound of its own."""


@asynccontextmanager
async def guest(root: Root, kinds: tuple[str, ...]) -> AsyncIterator[ASGIApp]:
    """Serves for as long as it is open."""
    server = make_server(Desk(root, kinds), _client_of)
    manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=MOST_BYTES)
    async with manager.run():
        yield StreamableHTTPASGIApp(manager)


def _client_of(context: Context) -> str:
    request = context.request
    address = request.client.host if isinstance(request, Request) and request.client is not None else ""
    return f"an MCP client at {address}" if address else "an MCP client"
