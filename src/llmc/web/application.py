"""The application: routes, and what runs beside them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from types import MappingProxyType

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import WebSocketRoute

from llmc.errors import InvalidUsageError, LlmcError
from llmc.web.addresses import Addresses
from llmc.web.answers import JsonAnswer
from llmc.web.api import PREFIX, api_routes
from llmc.web.guard import Guard
from llmc.web.guests import guest_routes, guests_of
from llmc.web.login_routes import login_routes
from llmc.web.pages import page_routes
from llmc.web.state import WebState
from llmc.web.terminal_socket import terminal
from llmc.web.terminals import LiveTerminals

NOBODY: Mapping[str, str] = MappingProxyType({})
FIRST_BOARD_SECS = 10.0


def make_application(state: WebState, addresses: Addresses, homes: Mapping[str, str] = NOBODY) -> Starlette:
    """`homes`: modules of other faces that are served as well, by their address."""
    guests = guests_of(homes, state)
    routes = [
        *login_routes(addresses),
        *api_routes(),
        WebSocketRoute(f"{PREFIX}/workers/{{worker}}/terminal", terminal),
        *guest_routes(guests),
        *page_routes(),
    ]
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(Guard, state=state, addresses=addresses),
            Middleware(GZipMiddleware, minimum_size=1000),
        ],
        exception_handlers={HTTPException: _not_there, LlmcError: _refused, Exception: _bug},
        lifespan=_alive,
    )
    app.state.web = state
    app.state.terminals = LiveTerminals(state.site)
    app.state.guests = guests
    return app


@asynccontextmanager
async def _alive(app: Starlette) -> AsyncIterator[None]:
    """The board and the terminals are followed for as long as the server runs."""
    state: WebState = app.state.web
    running = (state.live.run(), app.state.terminals.run(), *(each.run() for each in app.state.guests.values()))
    tasks = [asyncio.create_task(each) for each in running]
    until = asyncio.get_running_loop().time() + FIRST_BOARD_SECS
    while state.live.feed.board is None and state.live.problem is None and asyncio.get_running_loop().time() < until:
        await asyncio.sleep(0.02)
    try:
        yield
    finally:
        await app.state.terminals.give_all_back()
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _not_there(request: Request, failure: Exception) -> Response:
    assert isinstance(failure, HTTPException)
    refusal = {"error": str(failure.detail), "hint": "GET /api/v1/openapi.json lists what there is"}
    return JsonAnswer(refusal, failure.status_code, dict(failure.headers or {}))


async def _refused(request: Request, failure: Exception) -> Response:
    assert isinstance(failure, LlmcError)
    status = 400 if isinstance(failure, InvalidUsageError) else 409
    return JsonAnswer({"error": failure.what, "hint": failure.hint}, status)


async def _bug(request: Request, failure: Exception) -> Response:
    hint = "this is a bug: the output of `llmc web` says more"
    return JsonAnswer({"error": f"{type(failure).__name__}", "hint": hint}, 500)
