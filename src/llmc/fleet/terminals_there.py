"""On a machine: the terminals that somebody looks at from its hub, in a process of its own beside `remote-serve`.

Each look is asked for, and answered when the terminal differs from what was seen last, or after a while all the same.
"""

from __future__ import annotations

import base64
import os
import selectors
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any
from zlib import crc32

from llmc.core.screen.frames import TerminalFrame
from llmc.errors import LlmcError
from llmc.fleet.wire import decode_line, encode_line
from llmc.host.watch import open_watch
from llmc.observe.live_screens import look_at_panes
from llmc.site import Site
from llmc.tmux.from_afar import give_size_back, press_key, resize, type_bytes

EVERY_SECS = 0.08
BLIND_SECS = 0.5
"""The same where the system does not tell that something was written."""
LONGEST_SECS = 20.0


class TerminalsThere:
    def __init__(self, site: Site, say: Callable[[bytes], None]) -> None:
        self._site = site
        self._say = say
        self._watch = open_watch()
        self._waiting: dict[int, dict[str, Any]] = {}
        """The looks that are not answered yet, by their ids."""
        self._panes: dict[str, str] = {}
        self._seen: dict[str, str] = {}
        """What each worker's terminal showed at the last look, as a word that differs with it."""
        self._dirty: set[str] = set()

    def run(self) -> None:
        """Until nobody asks any more."""
        kept, looked = b"", 0.0
        with selectors.DefaultSelector() as look:
            look.register(0, selectors.EVENT_READ)
            told = self._watch.fileno()
            if told is not None:
                look.register(told, selectors.EVENT_READ)
            while True:
                heard = {key.fd for key, _ in look.select(self._pause(blind=told is None))}
                if 0 in heard:
                    data = os.read(0, 1 << 16)
                    if not data:
                        return
                    *lines, kept = (kept + data).split(b"\n")
                    for line in filter(None, lines):
                        self._heed(decode_line(line))
                self._dirty |= self._watch.changed() if told is not None else set(self._panes)
                if self._dirty and time.monotonic() - looked < EVERY_SECS:
                    time.sleep(EVERY_SECS)  # what is written in one go is looked at once
                    self._dirty |= self._watch.changed()
                self._look()
                looked = time.monotonic()

    def _pause(self, *, blind: bool) -> float | None:
        if not self._waiting:
            return None
        return max(0.0, min(BLIND_SECS if blind else LONGEST_SECS, self._first_due() - time.monotonic()))

    def _first_due(self) -> float:
        return min(float(order["until"]) for order in self._waiting.values())

    def _heed(self, order: dict[str, Any]) -> None:
        worker = str(order.get("worker"))
        if "touch" in order:
            self._answer(order, **self._touched(worker, order["touch"]))
            return
        within = min(float(order.get("wait_secs", 0.0)), LONGEST_SECS)
        self._waiting[order["id"]] = {**order, "until": time.monotonic() + within}
        if self._seen.get(worker) != order.get("seen") or worker not in self._panes:
            self._dirty.add(worker)

    # --- looking ----------------------------------------------------------------------------------------

    def _look(self) -> None:
        now = time.monotonic()
        wanted = {order["worker"] for order in self._waiting.values()}
        frames = self._frames(wanted & self._dirty)
        self._dirty -= wanted
        for number, order in [*self._waiting.items()]:
            worker = order["worker"]
            if worker in frames and (self._seen.get(worker) != order.get("seen") or now >= order["until"]):
                del self._waiting[number]
                frame = frames[worker]
                self._answer(order, seen=self._seen.get(worker, ""), frame=asdict(frame) if frame else None)
            elif now >= order["until"]:
                del self._waiting[number]
                self._answer(order, seen=self._seen.get(worker, ""))

    def _frames(self, workers: set[str]) -> dict[str, TerminalFrame | None]:
        """None for those that have no terminal."""
        for worker in workers - self._panes.keys():
            self._find(worker)
        panes = {self._panes[worker]: worker for worker in workers if worker in self._panes}
        above = {pane: self._above(worker) for pane, worker in panes.items()}
        try:
            looked = look_at_panes(self._site.tmux, panes, above)
        except LlmcError:
            looked = {}
        frames: dict[str, TerminalFrame | None] = dict.fromkeys(workers)
        frames |= {panes[pane]: frame for pane, frame in looked.items()}
        for worker, frame in frames.items():
            self._seen[worker] = f"{crc32(repr(_shown(frame)).encode()):08x}" if frame is not None else "none"
            if frame is None or frame.dead:
                self._panes.pop(worker, None)  # the next look finds the one that it has then
        return frames

    def _above(self, worker: str) -> int:
        return max((int(o.get("above", 0)) for o in self._waiting.values() if o["worker"] == worker), default=0)

    def _find(self, worker: str) -> None:
        try:
            known = self._site.ledger.load().workers.get(worker)
            pane = self._site.tmux.pane_of(known.session_id) if known is not None else None
        except LlmcError:
            return
        if pane is not None:
            self._panes[worker] = pane.id
            self._watch.forget(worker)
            self._watch.add(pane.tty, worker)

    # --- typing -----------------------------------------------------------------------------------------

    def _touched(self, worker: str, wish: dict[str, Any]) -> dict[str, Any]:
        try:
            self._touch(worker, wish)
        except (LlmcError, ValueError) as refused:
            hint = refused.hint if isinstance(refused, LlmcError) else "see docs/web.md for the keys"
            return {"code": 1, "error": str(refused), "hint": hint}
        return {"code": 0}

    def _touch(self, worker: str, wish: dict[str, Any]) -> None:
        known = self._site.worker(worker)
        pane = self._site.tmux.pane_of(known.session_id)
        if pane is None:
            raise LlmcError("the terminal is gone", "bring the worker up with `llmc up`")
        tmux = self._site.tmux
        match wish:
            case {"bytes": str(data)}:
                type_bytes(tmux, pane.id, base64.b64decode(data))
            case {"paste": str(data)}:
                tmux.paste(pane.id, base64.b64decode(data), f"llmc-far-{os.getpid()}")
            case {"key": str(key)}:
                press_key(tmux, pane.id, key)
            case {"size": [int(columns), int(rows)]}:
                resize(tmux, pane.session, (columns, rows))
            case _:
                give_size_back(tmux, pane.session)
        self._dirty.add(worker)

    def _answer(self, order: dict[str, Any], **said: Any) -> None:  # noqa: ANN401 - as the wire has it
        self._say(encode_line({"id": order["id"], **said}))


def _shown(frame: TerminalFrame) -> tuple[object, ...]:
    """Without what has scrolled away, which not every look brings along."""
    return frame.rows, frame.width, frame.height, frame.cursor, frame.cursor_shown, frame.scrolled, frame.dead
