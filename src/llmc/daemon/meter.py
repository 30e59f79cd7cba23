"""Counts what agents spend as they work, and stops who has spent all there is, beside everything else."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from llmc.care.budget import over_budget, stop
from llmc.care.giving import SomebodyActsError
from llmc.core.usage.budget import Limit
from llmc.daemon.side_job import SideJob
from llmc.errors import LlmcError
from llmc.perform.metering import count_of
from llmc.site import Site

SOON_SECS = 0.2
LATER_SECS = 2.0
"""Agents write down what an answer has cost a moment after they have told of its end."""
RETRY_SECS = 0.5
FAILED_RETRY_SECS = 5.0
PATIENCE = 2
"""Turns that do not end after so many tries are ended with their agent."""
AT_ONCE = 4


Over = Mapping[str, Limit]
"""Who is over which budget and still at work."""


class Meter:
    """`wake` is called when a round is over. At rest it costs nothing: somebody has to say who did something.

    A turn may take long to end; meanwhile all others are counted and stopped as well.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._job: SideJob[Over] = SideJob("meter", wake)
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="budget")
        self._names: set[str] = set()
        self._over: Over = {}
        self._stopping: dict[str, Future[str | None]] = {}
        self._tries: dict[str, int] = {}
        self._later: float | None = None

    def close(self) -> None:
        self._job.close()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def changed(self, names: Iterable[str]) -> None:
        """These may have spent something."""
        self._names.update(names)
        self._later = time.monotonic() + LATER_SECS
        self._job.soon(SOON_SECS)

    def moments(self) -> list[float]:
        return [*self._job.moments(), *([self._later] if self._later is not None else [])]

    def begin(self, site: Site) -> None:
        for name in self._over.keys() - self._stopping.keys():
            self._stop(site, name, self._over[name])
        self._over = {}
        if self._later is not None and self._later <= time.monotonic():
            self._later = None
            self._job.soon()
        names = frozenset(self._names)
        if self._job.begin(lambda: _measure(site, names)) and self._later is None:
            self._names.clear()

    def collect(self) -> str:
        """What went wrong with a round that is over, in words."""
        came = self._job.collect()
        if isinstance(came, LlmcError | OSError):
            self._job.soon(FAILED_RETRY_SECS)
            return f"usage: {came}"
        self._over = came or self._over
        ended = {name: future.result() for name, future in self._stopping.items() if future.done()}
        for name, words in ended.items():
            del self._stopping[name]
            self._tries[name] = 0 if words is None else self._tries.get(name, 0) + 1
            if words is not None:
                self._job.soon(RETRY_SECS)
        return "; ".join(filter(None, ended.values()))

    def _stop(self, site: Site, name: str, limit: Limit) -> None:
        by_force = self._tries.get(name, 0) >= PATIENCE
        self._stopping[name] = self._pool.submit(_stop, site, name, limit, by_force=by_force)
        self._stopping[name].add_done_callback(lambda _: self._wake())


def _measure(site: Site, names: frozenset[str]) -> Over:
    workers = site.ledger.load().workers
    count_of(site, [workers[name] for name in names if name in workers])
    return over_budget(site)


def _stop(site: Site, name: str, limit: Limit, *, by_force: bool) -> str | None:
    """None when it stands still; else what is in the way, or nothing that is worth a word."""
    try:
        return None if stop(site, name, limit, by_force=by_force) else ""
    except SomebodyActsError:
        return ""
    except (LlmcError, OSError) as failure:
        what = failure.what if isinstance(failure, LlmcError) else str(failure)
        return f"{name} is over budget and could not be stopped: {what}"
