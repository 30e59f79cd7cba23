"""Keeps what is known about conflicts to come current, beside everything else and never in its way."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from llmc.errors import LlmcError
from llmc.host.files import write_atomically
from llmc.observe.conflict_forecast import Radar
from llmc.site import Site
from llmc.values import Value

SOON_SECS = 0.5
"""What belongs together often comes in a burst."""
REST = 20
"""For each second of looking it rests this many: it never takes more than a twentieth of one processor."""
REST_OF_ROUNDS = 100
"""The same for looks at everybody that nothing has asked for."""


class _Look(Value):
    names: set[str]
    future: Future[float]
    is_round: bool
    """At everybody, though nothing has happened."""


class ConflictWatch:
    """`wake` is called when a look is over."""

    def __init__(self, site: Site, wake: Callable[[], None]) -> None:
        self._radar = Radar(site.root.radar_store("daemon"))
        self._wake = wake
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="radar")
        self._wanted: set[str] = set()
        self._due = 0.0
        self._rested = 0.0
        self._next_round = 0.0
        self._round_wanted = False
        self._under_way: _Look | None = None
        self._upstream: str | None = None

    def changed(self, names: Iterable[str]) -> None:
        """The work of these may be another than it was."""
        before = len(self._wanted)
        self._wanted |= set(names)
        if not before and self._wanted:
            self._due = time.monotonic() + SOON_SECS

    def look_round(self, everybody: Iterable[str]) -> None:
        """Nothing tells of work that is not committed: now and then all of it is looked at."""
        if time.monotonic() >= self._next_round:
            self._round_wanted = True
            self.changed(everybody)

    def upstream_is(self, tip: str, everybody: Iterable[str]) -> None:
        if tip != self._upstream:
            self._upstream = tip
            self.changed(everybody)

    def moments(self) -> list[float]:
        """When there is something to look at, in monotonic time."""
        return [max(self._due, self._rested)] if self._wanted and self._under_way is None else []

    def begin(self, site: Site) -> None:
        if not self._wanted or self._under_way is not None or time.monotonic() < max(self._due, self._rested):
            return
        look = self._pool.submit(self._look, site, self._wanted)
        self._under_way = _Look(self._wanted, look, self._round_wanted)
        self._wanted, self._round_wanted = set(), False
        look.add_done_callback(lambda _: self._wake())

    def _look(self, site: Site, names: set[str]) -> float:
        began = time.monotonic()
        self._radar.look_at(site, names)
        if not self._radar.stopped:
            # A cache that the next look makes anew: atomic for readers, but not worth a sync to disk.
            write_atomically(Path(site.root.radar_file), json.dumps(self._radar.document(site)))
            write_atomically(Path(site.root.touched_file), json.dumps(self._radar.touched()))
        return time.monotonic() - began

    def collect(self) -> str:
        """The words of a look that failed; empty when all is well."""
        look = self._under_way
        if look is None or not look.future.done():
            return ""
        self._under_way = None
        failure = look.future.exception()
        if failure is None:
            self._rest_after(look)
            return ""
        if not isinstance(failure, LlmcError | OSError):
            raise failure
        self._rested = time.monotonic() + REST
        self.changed(look.names)
        return str(failure)

    def _rest_after(self, look: _Look) -> None:
        now, seconds = time.monotonic(), look.future.result()
        self._rested = now + seconds * REST
        if look.is_round:
            self._next_round = now + seconds * REST_OF_ROUNDS

    def close(self, site: Site) -> None:
        self._radar.stopped = True
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._radar.close(site)
