"""Other faces that are served as well, under addresses that whoever composes the program names.

Each is loaded when somebody asks for it: most people never do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib import import_module

from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from llmc.commands.shared.beside import beside
from llmc.errors import LlmcError
from llmc.web.state import WebState

READING = ("read",)


class Guest:
    """The face is opened and closed in one task of its own."""

    def __init__(self, home: str, state: WebState) -> None:
        self._home = home
        self._root = state.root
        allowed = state.settings.mcp_allow
        self._kinds = tuple(kind for kind in allowed if kind in READING or not state.read_only)
        self._wanted = asyncio.Event()
        self._opened = asyncio.Event()
        self._app: ASGIApp | None = None

    async def run(self) -> None:
        """Until it is cancelled."""
        await self._wanted.wait()
        try:
            module = await beside(lambda: import_module(self._home))
            async with module.guest(self._root, self._kinds) as self._app:
                self._opened.set()
                await asyncio.Event().wait()
        finally:
            self._opened.set()  # nobody waits for what has failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._wanted.set()
        await self._opened.wait()
        if self._app is None:
            raise LlmcError(f"{scope['path']} could not be opened", "the output of `llmc web` says more")
        await self._app(scope, receive, send)


def guests_of(homes: Mapping[str, str], state: WebState) -> dict[str, Guest]:
    """By their addresses."""
    return {address: Guest(home, state) for address, home in homes.items()}


def guest_routes(guests: Mapping[str, Guest]) -> list[Route]:
    return [Route(address, guest, methods=["GET", "POST", "DELETE"]) for address, guest in guests.items()]
