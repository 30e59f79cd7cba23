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


@asynccontextmanager
async def guest(root: Root, kinds: tuple[str, ...]) -> AsyncIterator[ASGIApp]:
    """Serves for as long as it is open."""
    manager = StreamableHTTPSessionManager(make_server(Desk(root, kinds), _client_of), stateless=True)
    async with manager.run():
        yield StreamableHTTPASGIApp(manager)


def _client_of(context: Context) -> str:
    request = context.request
    address = request.client.host if isinstance(request, Request) and request.client is not None else ""
    return f"an MCP client at {address}" if address else "an MCP client"
