"""Dialogs that may be answered unasked: each one beside everything else, and each screen once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from llmc.errors import LlmcError
from llmc.observe.readings import Observation
from llmc.perform.auto_confirm import Confirmed, confirm, has_rules
from llmc.site import Site
from llmc.store.ledger import UnknownWorkerError
from llmc.values import Value


class Try(Value):
    digest: str
    said: tuple[object, ...]
    work: Future[Confirmed]

    def is_over_for(self, seen: Observation) -> bool:
        """A key is pressed once for a screen. What was refused may be allowed when the agent has reported."""
        same = self.digest == seen.status["last_snapshot_hash"]
        match self.work.result():
            case Confirmed.BUSY:
                return False
            case Confirmed.REFUSED:
                return same and self.said == _said(seen)
        return same


class Confirmations:
    """`complain` hears, by worker, what went wrong."""

    def __init__(self, pool: ThreadPoolExecutor, complain: Callable[[str, str], object]) -> None:
        self._pool = pool
        self._complain = complain
        self._last: dict[str, Try] = {}

    def act_on(self, site: Site, seen: Iterable[Observation]) -> set[str]:
        """Begins to answer what may be answered; those who have to be looked at again because it is not done."""
        return {each.subject.name for each in seen if self._begin(site, each)}

    def _begin(self, site: Site, seen: Observation) -> bool:
        name = seen.subject.name
        last = self._last.get(name)
        if last is not None and not last.work.done():
            return True
        if not _asks(seen):
            self._last.pop(name, None)
            return False
        if not seen.stable or not _has_rules(site, name) or (last is not None and last.is_over_for(seen)):
            return False
        digest = seen.status["last_snapshot_hash"]
        work = self._pool.submit(self._confirm, site, name, digest)
        self._last[name] = Try(digest, _said(seen), work)
        return True

    def _confirm(self, site: Site, name: str, digest: str) -> Confirmed:
        try:
            confirmed = confirm(site, name, digest)
        except LlmcError as failure:
            self._complain(name, f"its dialog could not be answered: {failure.what}")
            return Confirmed.REFUSED
        if confirmed is Confirmed.STAYS:
            self._complain(name, f"an automatic answer did not help: {confirmed.value}")
        return confirmed


def _said(seen: Observation) -> tuple[object, ...]:
    return tuple(seen.status.get(key) for key in ("source", "state", "detail", "confidence", "summary"))


def _asks(seen: Observation) -> bool:
    return seen.reading.state == "NEEDS_CONFIRMATION"


def _has_rules(site: Site, name: str) -> bool:
    try:
        return has_rules(site, site.worker(name))
    except UnknownWorkerError:
        return False
