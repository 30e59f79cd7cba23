"""When to look at which terminal: when it changes, and again until it is at rest. Daemon and watcher share this."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from llmc.care.reports import take_terminal_reports
from llmc.care.statuses import keep_statuses
from llmc.errors import LlmcError
from llmc.host.watch import open_watch
from llmc.observe.readings import Observation, Readings
from llmc.observe.watched_terminal import Subject
from llmc.store.status_cache import StatusCache

LOOK_EVERY_SECS = 0.5
"""A screen that changes all the time (a spinner) is read no more often than this."""


class Screens:
    """`act` hears what each look found, in a thread of the pool, and says whom to look at again; `wake` ends it."""

    def __init__(
        self,
        readings: Readings,
        cache: StatusCache,
        pool: ThreadPoolExecutor,
        wake: Callable[[], None],
        act: Callable[[list[Observation]], set[str]],
    ) -> None:
        self.watch = open_watch()
        self.readings = readings
        self._cache = cache
        self._pool = pool
        self._wake = wake
        self._act = act
        self._due: dict[str, float] = {}
        self._last: dict[str, float] = {}
        self._under_way: tuple[list[str], Future[set[str]]] | None = None

    def follow(self, subjects: Mapping[str, Subject]) -> set[str]:
        """Follows exactly these. The names of those that are not followed any more."""
        before = self.readings.subjects
        gone = {name for name, subject in before.items() if _place(subjects.get(name)) != subject.place}
        for name in gone:
            self.watch.forget(name)
            self._due.pop(name, None)
        self.readings.follow(subjects)
        for name in subjects.keys() - (before.keys() - gone):
            self._listen(subjects[name])
            self.look_at(name)
        return gone - subjects.keys()

    def _listen(self, subject: Subject) -> None:
        self.watch.add(subject.tty, subject.name)
        self.watch.add(os.path.dirname(subject.reports), subject.name, frozenset((os.path.basename(subject.reports),)))
        if subject.spool:
            self.watch.add(subject.spool, subject.name)

    def notice(self) -> None:
        for name in self.watch.changed() & self.readings.subjects.keys():
            self.look_at(name)

    def moments(self) -> list[float]:
        """When there is something to look at, in monotonic time."""
        return [] if self._under_way else list(self._due.values())

    def begin(self) -> None:
        now = time.monotonic()
        names = [name for name, at in self._due.items() if at <= now]
        if not names or self._under_way:
            return
        for name in names:
            del self._due[name]
            self._last[name] = now
        work = self._pool.submit(self._look, names)
        self._under_way = (names, work)
        work.add_done_callback(lambda _: self._wake())

    def _look(self, names: list[str]) -> set[str]:
        return self._act(self.look_now(names))

    def look_now(self, names: Iterable[str]) -> list[Observation]:
        for name in names:
            if (subject := self.readings.subjects.get(name)) is not None:
                take_terminal_reports(subject)
        return self.readings.look(names, partial(keep_statuses, self._cache))

    def collect(self) -> str:
        """The words of a look that failed; empty when all is well."""
        if self._under_way is None or not self._under_way[1].done():
            return ""
        (names, work), self._under_way = self._under_way, None
        failure = work.exception()
        for name in names:
            again = self.readings.again_in(name)
            if again is None and failure is None and name in work.result():
                again = self.readings.settle_secs
            if again is not None and name in self.readings.subjects:
                self.look_at(name, again)
        if failure is not None and not isinstance(failure, LlmcError):
            raise failure
        return failure.what if failure is not None else ""

    def look_at(self, name: str, after: float = 0.0) -> None:
        now = time.monotonic()
        at = now + after if after else max(now, self._last.get(name, 0.0) + LOOK_EVERY_SECS)
        self._due[name] = min(self._due.get(name, at), at)

    def close(self) -> None:
        self.watch.close()


def _place(subject: Subject | None) -> tuple[str, int, str] | None:
    return None if subject is None else subject.place
