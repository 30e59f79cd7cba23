"""`WS /api/v1/workers/W/terminal`: one viewer of a terminal, who types only with control."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from llmc.commands.shared.beside import beside
from llmc.errors import LlmcError
from llmc.fleet.terminals import TerminalElsewhere, terminal_elsewhere
from llmc.tmux.from_afar import press_key, type_bytes
from llmc.web.state import WebState, Who
from llmc.web.terminals import LiveTerminals, Viewer, WatchedScreen

SECRET_WITHIN_SECS = 10.0
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
NOT_ALLOWED, NO_WORKER, ENDS = 4401, 4404, 1012
"""Codes with which a socket is closed."""


async def terminal(socket: WebSocket) -> None:
    state: WebState = socket.app.state.web
    worker = socket.path_params["worker"]
    await socket.accept()
    if not await _has_secret(socket, state):
        await socket.close(NOT_ALLOWED, "the page has not sent its secret")
    elif not await beside(lambda: _is_known(state, worker)):
        await socket.close(NO_WORKER, "there is no such worker")
    else:
        await _Session(socket, state, worker).run()


def _is_known(state: WebState, worker: str) -> bool:
    return worker in state.site.ledger.load().workers or terminal_elsewhere(state.site, worker) is not None


async def _has_secret(socket: WebSocket, state: WebState) -> bool:
    """The first frame has it, for whoever came by a cookie."""
    cookie = socket.scope.get("llmc.cookie")
    if cookie is None:
        return True
    try:
        first = json.loads(await asyncio.wait_for(socket.receive_text(), SECRET_WITHIN_SECS))
    except (TimeoutError, ValueError, KeyError, WebSocketDisconnect, RecursionError):
        return False
    given = first.get("secret") if isinstance(first, dict) else None
    return isinstance(given, str) and state.logins.is_secret(cookie, given)


class _Session:
    def __init__(self, socket: WebSocket, state: WebState, worker: str) -> None:
        self._socket = socket
        self._state = state
        self._terminals: LiveTerminals = socket.app.state.terminals
        who: Who = socket.scope["llmc.who"]
        self._viewer = Viewer(who)
        self._screen: WatchedScreen = self._terminals.add(worker, self._viewer)

    async def run(self) -> None:
        if self._socket.query_params.get("control") == "1":
            self._take_control()
        tasks = {asyncio.create_task(work()) for work in (self._hear, self._draw, self._state.closing.wait)}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if self._state.closing.is_set():
                with suppress(RuntimeError, WebSocketDisconnect):
                    await self._socket.close(ENDS, "the server ends")
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.shield(self._terminals.remove(self._screen, self._viewer))

    async def _draw(self) -> None:
        viewer = self._viewer
        while True:
            await viewer.wake.wait()
            viewer.wake.clear()
            facts = viewer.told()
            if facts:
                await self._socket.send_text(json.dumps(facts))
            drawn = self._screen.drawn_for(viewer)
            if drawn:
                await self._socket.send_bytes(drawn.encode("utf-8", "replace"))

    # --- what comes in ----------------------------------------------------------------------------------

    async def _hear(self) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] != "websocket.receive":
                return
            data, text = message.get("bytes"), message.get("text")
            wish = _wish(text) if text is not None else None
            try:
                if wish is None:
                    await self._type(data if data is not None else (text or "").encode("utf-8", "replace"))
                else:
                    await self._grant(wish)
            except LlmcError as refused:
                self._viewer.tell(error=refused.what, hint=refused.hint)

    async def _grant(self, wish: dict[str, Any]) -> None:
        match wish:
            case {"control": True}:
                self._take_control()
            case {"control": False}:
                await self._terminals.give_up(self._screen, self._viewer)
            case {"size": [int(columns), int(rows)]}:
                await self._terminals.resize(self._screen, self._viewer, columns, rows)
            case {"paste": str(text)} if pasted := _harmless(text).encode("utf-8", "replace"):
                tmux = self._state.site.tmux
                await self._do(
                    lambda pane: tmux.paste(pane, pasted, f"llmc-web-{id(self):x}"), lambda far: far.paste(pasted)
                )
            case {"key": str(key)}:
                tmux = self._state.site.tmux
                await self._do(lambda pane: press_key(tmux, pane, key), lambda far: far.press(key))

    def _take_control(self) -> None:
        if self._state.read_only:
            raise LlmcError("this server only shows", "start it without `--read-only` to type")
        self._terminals.take_control(self._screen, self._viewer)
        self._state.note(self._viewer.who, "control", worker=self._screen.worker)

    async def _type(self, data: bytes) -> None:
        tmux = self._state.site.tmux
        await self._do(lambda pane: type_bytes(tmux, pane, data), lambda far: far.type(data))

    async def _do(self, act: Callable[[str], None], act_far: Callable[[TerminalElsewhere], None]) -> None:
        """Only for who has control, and only while there is somebody to type to."""
        if self._screen.controller is not self._viewer:
            raise LlmcError("you do not have control of this terminal", "take control first")
        pane, far = self._screen.pane, self._screen.far
        if far is not None:
            await beside(lambda: act_far(far))
            return
        if pane is None:
            raise LlmcError("the terminal is gone", "bring the worker up with `llmc up`")
        try:
            await beside(lambda: act(pane.id))
        except ValueError as unknown:
            raise LlmcError(str(unknown), "see docs/web.md for the keys") from None


def _wish(text: str) -> dict[str, Any] | None:
    """What a text frame asks for; None where it is simply typed."""
    if not text.startswith("{"):
        return None
    try:
        wish = json.loads(text)
    except (ValueError, RecursionError):
        return None
    known = isinstance(wish, dict) and not wish.keys().isdisjoint(("control", "size", "paste", "key", "secret"))
    return wish if known else None


def _harmless(text: str) -> str:
    """Line breaks stay. An escape could end the paste early, and what follows would be typed."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return CONTROL.sub("", lines)
