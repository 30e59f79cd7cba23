"""Counts what agents spend as they work, and stops who has spent all there is, beside everything else."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from llmc.care.budget import over_budget, stop
from llmc.care.giving import SomebodyActsError
from llmc.core.usage.budget import Limit
from llmc.daemon.side_job import SideJob
from llmc.errors import LlmcError
from llmc.perform.metering import count_of
from llmc.site import Site
from llmc.values import Value

SOON_SECS = 0.2
LATER_SECS = 2.0
"""Agents write down what an answer has cost a moment after they have told of its end."""
RETRY_SECS = 0.5
FAILED_RETRY_SECS = 5.0
PATIENCE = 2
"""Turns that do not end after so many tries are ended with their agent."""
AT_ONCE = 4


class Metered(Value):
    left: frozenset[str] = frozenset()
    """Who is over budget and still at work."""
    complaint: str = ""


class Meter:
    """`wake` is called when a round is over. At rest it costs nothing: somebody has to say who did something."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._job: SideJob[Metered] = SideJob("meter", wake)
        self.close = self._job.close
        self._names: set[str] = set()
        self._tries: dict[str, int] = {}
        self._later: float | None = None

    def changed(self, names: Iterable[str]) -> None:
        """These may have spent something."""
        self._names.update(names)
        self._later = time.monotonic() + LATER_SECS
        self._job.soon(SOON_SECS)

    def moments(self) -> list[float]:
        return [*self._job.moments(), *([self._later] if self._later is not None else [])]

    def begin(self, site: Site) -> None:
        if self._later is not None and self._later <= time.monotonic():
            self._later = None
            self._job.soon()
        names, last = frozenset(self._names), self._later is None
        tries = dict(self._tries)
        self._job.begin(lambda: _measure(site, names, tries))
        if last:
            self._names.clear()

    def collect(self) -> str:
        """What went wrong with a round that is over, in words."""
        came = self._job.collect()
        if isinstance(came, Metered):
            self._tries = {name: self._tries.get(name, 0) + 1 for name in came.left}
            if came.left:
                self._job.soon(RETRY_SECS)
            return came.complaint
        if came is not None:
            self._job.soon(FAILED_RETRY_SECS)
            return f"usage: {came}"
        return ""


def _measure(site: Site, names: frozenset[str], tries: dict[str, int]) -> Metered:
    workers = site.ledger.load().workers
    count_of(site, [workers[name] for name in names if name in workers])
    over = over_budget(site)
    if not over:
        return Metered()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        came = list(pool.map(lambda name: _stop(site, name, over[name], tries.get(name, 0)), over))
    left = frozenset(name for name, words in zip(over, came, strict=True) if words is not None)
    return Metered(left, "; ".join(filter(None, came)))


def _stop(site: Site, name: str, limit: Limit, tries: int) -> str | None:
    """None when it stands still; else what is in the way, or nothing that is worth a word."""
    try:
        return None if stop(site, name, limit, by_force=tries >= PATIENCE) else ""
    except SomebodyActsError:
        return ""
    except LlmcError as failure:
        return f"{name} is over budget and could not be stopped: {failure.what}"
