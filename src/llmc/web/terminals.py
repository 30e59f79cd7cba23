"""The terminals that somebody looks at: one loop for all of them, one process of tmux for each look.

A viewer is told what turns the screen that it saw last into the one of now. Who is slow misses what was in between, and
nothing is ever kept for them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from llmc.commands.shared.beside import beside
from llmc.core.screen.frames import TerminalFrame, difference, whole
from llmc.errors import LlmcError
from llmc.fleet.terminals import TerminalElsewhere, terminal_elsewhere
from llmc.host.watch import open_watch
from llmc.observe.live_screens import MOST_SCROLLED, look_at_panes
from llmc.site import Site
from llmc.tmux.from_afar import give_size_back, resize
from llmc.tmux.parsing import Pane
from llmc.web.state import Who

EVERY_SECS = 0.08
"""As often as a terminal that changes all the time is looked at."""
SAFETY_SECS = 5.0
"""The same of one that does not seem to change: a pane that ends, or begins, may tell nobody."""
LEAST, MOST = (20, 5), (500, 200)
HISTORY = 500
"""Rows that a viewer can scroll back to."""
SLACK = 50


class Viewer:
    """Somebody who looks at a terminal."""

    def __init__(self, who: Who) -> None:
        self.who = who
        self.wake = asyncio.Event()
        self.seen: TerminalFrame | None = None
        self.missed = False
        """Rows have scrolled by that it was not told of."""
        self._facts: dict[str, object] = {}

    def tell(self, **facts: object) -> None:
        """To be sent before anything is drawn; only the last one of each name."""
        self._facts |= facts
        self.wake.set()

    def told(self) -> dict[str, object]:
        facts, self._facts = self._facts, {}
        return facts


class WatchedScreen:
    """The terminal of one worker, for all who look at it."""

    def __init__(self, worker: str) -> None:
        self.worker = worker
        self.pane: Pane | None = None
        self.frame: TerminalFrame | None = None
        self.viewers: set[Viewer] = set()
        self.controller: Viewer | None = None
        self.far: TerminalElsewhere | None = None
        """For what is typed, where it is on another machine."""
        self.following: asyncio.Task[None] | None = None
        self.wanted_above = HISTORY
        """Rows above the screen that the next look is to bring along."""
        self._above: deque[str] = deque(maxlen=HISTORY)

    def grown(self, frame: TerminalFrame) -> int:
        """How many rows have scrolled out of sight since the last look."""
        return frame.scrolled - self.frame.scrolled if self.frame is not None else 0

    def take(self, frame: TerminalFrame, asked: int) -> bool:
        """`asked`: how many rows above were to come along. False when more have scrolled by than came."""
        grown, before, self.frame = self.grown(frame), self.frame, frame
        complete = asked >= HISTORY or 0 <= grown <= len(frame.above)
        if asked >= HISTORY or not complete:
            self._above = deque(frame.above, HISTORY)
        elif grown:
            self._above.extend(frame.above[-grown:])
        for viewer in self.viewers:
            if asked >= HISTORY and viewer.missed:
                viewer.seen = None
            viewer.wake.set()
        # What is likely to scroll by until the next look: a guess that is wrong costs one more process.
        self.wanted_above = min(grown * 2 + SLACK, MOST_SCROLLED) if grown > 0 else 0
        if before is None or before.dead != frame.dead:
            self.tell(dead=frame.dead)
        if before is None or (before.width, before.height) != (frame.width, frame.height):
            self.tell(size=[frame.width, frame.height])
        return complete

    def forget(self) -> None:
        """It is another terminal from now on, or none."""
        self.pane = self.frame = None
        self.wanted_above = HISTORY
        self._above.clear()
        for viewer in self.viewers:
            viewer.seen = None

    def tell(self, **facts: object) -> None:
        for viewer in self.viewers:
            viewer.tell(**facts)

    def tell_control(self) -> None:
        who = self.controller.who.address if self.controller else None
        for viewer in self.viewers:
            viewer.tell(control=who, mine=viewer is self.controller)

    def drawn_for(self, viewer: Viewer) -> str:
        """What makes this viewer's screen that of now."""
        frame, seen = self.frame, viewer.seen
        if frame is None:
            return ""
        viewer.seen = frame
        if seen is None:
            viewer.missed = False
            return whole(frame, tuple(self._above))
        grown = frame.scrolled - seen.scrolled
        if 0 <= grown <= len(self._above):
            gone = tuple(self._above)[len(self._above) - grown :]
        else:
            seen, gone, viewer.missed = replace(seen, scrolled=frame.scrolled), (), True
        drawn = difference(seen, frame, gone)
        return whole(frame, tuple(self._above)) if drawn is None else drawn


class LiveTerminals:
    """All that are looked at."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._watch = open_watch()
        self._news = asyncio.Event()
        self._screens: dict[str, WatchedScreen] = {}
        self._dirty: set[str] = set()

    async def run(self) -> None:
        """Until it is cancelled. A server that was killed may have left a terminal at its viewer's size."""
        with suppress(LlmcError):
            await beside(lambda: give_size_back(self._site.tmux))
        loop = asyncio.get_running_loop()
        fd = self._watch.fileno()
        if fd is not None:
            loop.add_reader(fd, self._hear)
        try:
            while True:
                await self._wait(None if not self._screens else SAFETY_SECS if fd is not None else EVERY_SECS)
                with suppress(LlmcError):  # tmux does not answer: the next look may tell more
                    await self._look()
                await asyncio.sleep(EVERY_SECS)
        finally:
            if fd is not None:
                loop.remove_reader(fd)
            self._watch.close()

    async def _wait(self, limit: float | None) -> None:
        try:
            await asyncio.wait_for(self._news.wait(), limit)
        except TimeoutError:
            self._dirty |= set(self._screens)
        self._hear()
        self._news.clear()

    def _hear(self) -> None:
        """At once: what is not taken would wake the loop again and again."""
        changed = self._watch.changed()
        self._dirty |= changed
        if changed:
            self._news.set()

    # --- who looks --------------------------------------------------------------------------------------

    def add(self, worker: str, viewer: Viewer) -> WatchedScreen:
        screen = self._screens.setdefault(worker, WatchedScreen(worker))
        screen.viewers.add(viewer)
        screen.wanted_above = HISTORY
        screen.tell_control()
        if screen.frame is not None:
            viewer.tell(size=[screen.frame.width, screen.frame.height], dead=screen.frame.dead)
        self._look_soon(worker)
        return screen

    async def remove(self, screen: WatchedScreen, viewer: Viewer) -> None:
        screen.viewers.discard(viewer)
        await self.give_up(screen, viewer)
        if not screen.viewers and self._screens.get(screen.worker) is screen:
            del self._screens[screen.worker]
            self._watch.forget(screen.worker)
            if screen.following is not None:
                screen.following.cancel()

    def _look_soon(self, worker: str) -> None:
        self._dirty.add(worker)
        self._news.set()

    # --- who types --------------------------------------------------------------------------------------

    def take_control(self, screen: WatchedScreen, viewer: Viewer) -> None:
        screen.controller = viewer
        screen.tell_control()

    async def give_up(self, screen: WatchedScreen, viewer: Viewer) -> None:
        """The terminal gets its own size back."""
        if screen.controller is not viewer:
            return
        screen.controller = None
        screen.tell_control()
        far = screen.far
        if far is not None:
            with suppress(LlmcError):  # its machine is away: whoever is there gives it back
                await beside(far.give_size_back)
        if screen.pane is not None:
            session = screen.pane.session
            await beside(lambda: give_size_back(self._site.tmux, session))
            self._look_soon(screen.worker)

    async def give_all_back(self) -> None:
        for screen in list(self._screens.values()):
            if screen.controller is not None:
                await self.give_up(screen, screen.controller)

    async def resize(self, screen: WatchedScreen, viewer: Viewer, columns: int, rows: int) -> None:
        far, size = screen.far, (max(LEAST[0], min(columns, MOST[0])), max(LEAST[1], min(rows, MOST[1])))
        if screen.controller is viewer and far is not None:
            await beside(lambda: far.resize(*size))
        if screen.controller is viewer and screen.pane is not None:
            session = screen.pane.session
            await beside(lambda: resize(self._site.tmux, session, size))
            self._look_soon(screen.worker)

    # --- looking ----------------------------------------------------------------------------------------

    async def _look(self) -> None:
        dirty, self._dirty = self._dirty, set()
        screens = [self._screens[name] for name in dirty if name in self._screens]
        for screen in screens:
            if screen.following is None and (screen.pane is None or (screen.frame is not None and screen.frame.dead)):
                await self._find(screen)
        for screen, complete in await self._look_at(screens):
            if not complete:
                self._look_soon(screen.worker)
            elif any(viewer.missed for viewer in screen.viewers):  # the flood is over: they get it whole
                screen.wanted_above = HISTORY
                self._look_soon(screen.worker)

    async def _look_at(self, screens: Iterable[WatchedScreen]) -> list[tuple[WatchedScreen, bool]]:
        by_pane = {screen.pane.id: screen for screen in screens if screen.pane is not None}
        above = {pane: screen.wanted_above for pane, screen in by_pane.items() if screen.wanted_above}
        frames = await beside(lambda: look_at_panes(self._site.tmux, by_pane, above))
        short = {
            pane: grown + SLACK
            for pane, frame in frames.items()
            if above.get(pane, 0) < (grown := by_pane[pane].grown(frame)) <= MOST_SCROLLED
        }
        frames |= await beside(lambda: look_at_panes(self._site.tmux, short, short)) if short else {}
        looked = []
        for pane, screen in by_pane.items():
            if pane in frames:
                frame = await self._in_the_end(pane, frames[pane])
                looked.append((screen, screen.take(frame, short.get(pane, above.get(pane, 0)))))
            else:
                screen.forget()
                screen.tell(dead=True)
        return looked

    async def _in_the_end(self, pane: str, frame: TerminalFrame) -> TerminalFrame:
        """Of a dead one, what it showed last: its own screen was cleared."""
        if not frame.dead:
            return frame
        _, text = await beside(lambda: self._site.tmux.look(pane))
        return replace(frame, rows=tuple(text.rstrip("\n").split("\n")[-frame.height :]), cursor_shown=False)

    async def _follow_far(self, screen: WatchedScreen, terminal: TerminalElsewhere) -> None:
        """One on another machine, which tells by itself when something was written."""
        try:
            while True:
                asked = screen.wanted_above
                try:
                    frame = await beside(partial(terminal.look, asked))
                except LlmcError as silent:
                    screen.forget()
                    screen.tell(dead=True, error=silent.what, hint=silent.hint)
                    await asyncio.sleep(SAFETY_SECS)
                    continue
                if frame is not None and (not screen.take(frame, asked) or any(each.missed for each in screen.viewers)):
                    screen.wanted_above = HISTORY
                    terminal.look_anew()
                await asyncio.sleep(EVERY_SECS)
        finally:
            terminal.close()

    async def _find(self, screen: WatchedScreen) -> None:
        """The terminal that this worker has now."""
        far = await beside(lambda: terminal_elsewhere(self._site, screen.worker))
        if far is not None:
            screen.far = await beside(lambda: terminal_elsewhere(self._site, screen.worker))
            screen.following = asyncio.create_task(self._follow_far(screen, far))
            return
        pane = await beside(lambda: self._pane_of(screen.worker))
        if pane is None or (screen.pane is not None and pane.id != screen.pane.id):
            screen.forget()
        if pane is None:
            screen.tell(dead=True)
        elif screen.pane is None:
            self._watch.forget(screen.worker)
            self._watch.add(pane.tty, screen.worker)
        screen.pane = pane

    def _pane_of(self, worker: str) -> Pane | None:
        known = self._site.ledger.load().workers.get(worker)
        return self._site.pane_of(known.session_id) if known is not None else None
