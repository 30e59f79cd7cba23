"""Terminals of agents that do not report by themselves: looked at when they change, and once more at rest.

Those of agents that report and have fallen silent are looked at twice when the patrol asks for it, and not followed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from llmc.daemon.care import read_screens
from llmc.errors import LlmcError
from llmc.host.watch import open_watch
from llmc.observe.screens import ScreenLooks
from llmc.site import Site

LOOK_EVERY_SECS = 0.5
"""A screen that changes all the time (a spinner) is read no more often than this."""


class Screens:
    """`wake` is called when a look is over."""

    def __init__(self, pool: ThreadPoolExecutor, wake: Callable[[], None]) -> None:
        self.watch = open_watch()
        self.looks = ScreenLooks()
        self._pool = pool
        self._wake = wake
        self._ttys: dict[str, str] = {}
        self._due: dict[str, float] = {}
        self._once: set[str] = set()
        """Who is looked at once more, and then no longer."""
        self._last: dict[str, float] = {}
        self._under_way: tuple[list[str], Future[None]] | None = None

    def follow(self, ttys: Mapping[str, str]) -> None:
        """Follows exactly these terminals, by worker."""
        for name in [name for name, tty in self._ttys.items() if ttys.get(name) != tty]:
            self.watch.forget(name)
            del self._ttys[name]
            self._due.pop(name, None)
        for name in ttys.keys() - self._ttys.keys():
            self.watch.add(ttys[name], name)
            self._ttys[name] = ttys[name]
            self._look_at(name, 0.0)

    def notice(self) -> None:
        for name in self.watch.changed() & self._ttys.keys():
            self._look_at(name, 0.0)

    def look_once(self, names: list[str]) -> None:
        for name in names:
            self._once.add(name)
            self._look_at(name, 0.0)

    def moments(self) -> list[float]:
        """When there is something to look at, in monotonic time."""
        return [] if self._under_way else list(self._due.values())

    def begin(self, site: Site) -> None:
        now = time.monotonic()
        names = [name for name, at in self._due.items() if at <= now]
        if not names or self._under_way:
            return
        for name in names:
            del self._due[name]
            self._last[name] = now
        work = self._pool.submit(read_screens, site, names, self.looks)
        self._under_way = (names, work)
        work.add_done_callback(lambda _: self._wake())

    def collect(self, site: Site) -> str:
        """The words of a look that failed; empty when all is well."""
        if self._under_way is None or not self._under_way[1].done():
            return ""
        (names, work), self._under_way = self._under_way, None
        for name in names:
            again = self.looks.again_in(name, site.now())
            if again is not None and (name in self._ttys or name in self._once):
                self._look_at(name, again)
            self._once.discard(name)
        failure = work.exception()
        if failure is not None and not isinstance(failure, LlmcError):
            raise failure
        return failure.what if failure is not None else ""

    def _look_at(self, name: str, after: float) -> None:
        at = max(time.monotonic() + after, self._last.get(name, 0.0) + LOOK_EVERY_SECS)
        self._due[name] = min(self._due.get(name, at), at)

    def close(self) -> None:
        self.watch.close()
