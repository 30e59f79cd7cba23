"""Has work checked as soon as it waits for review, beside everything else and never in its way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Event

from llmc.care.review_checks import Looked, check_if_new
from llmc.errors import LlmcError
from llmc.perform.start import LeftToTheNextError
from llmc.site import Site
from llmc.store.ledger import UnknownWorkerError

AGAIN_SECS = 300.0
"""After something has kept the checks from running."""
MOST_JOBS = 16


class ReviewChecks:
    """`wake` is called when a check is over."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._pool = ThreadPoolExecutor(MOST_JOBS, thread_name_prefix="checks")
        self._jobs = 0
        self._wanted: dict[str, float] = {}
        """Whose work is to be looked at, and not before when."""
        self._running: dict[str, tuple[Future[Looked | None], Event]] = {}
        """With what ends each of them early."""
        self._looked: dict[str, Looked | None] = {}

    def changed(self, names: Iterable[str]) -> None:
        """The work of these may be another than it was, or land elsewhere."""
        self._wanted.update(dict.fromkeys(names, time.monotonic()))

    def moments(self) -> list[float]:
        """When there is something to do, in monotonic time."""
        free = len(self._running) < self._jobs
        return [due for name, due in self._wanted.items() if name not in self._running] if free else []

    def begin(self, site: Site) -> None:
        repo, now = site.config.repo, time.monotonic()
        self._jobs = repo.validate_jobs if repo.validate_on == "review" and repo.validate else 0
        if not self._jobs:
            self._wanted.clear()
        due = [name for name, at in self._wanted.items() if at <= now and name not in self._running]
        for name in due[: max(0, self._jobs - len(self._running))]:
            del self._wanted[name]
            ended = Event()
            check = self._pool.submit(check_if_new, replace(site, leaving=ended), name, self._looked.get(name))
            self._running[name] = check, ended
            check.add_done_callback(lambda _: self._wake())

    def collect(self) -> list[tuple[str, str]]:
        """What went wrong, and with whose checks."""
        over = [(name, check) for name, (check, _) in self._running.items() if check.done()]
        return [(name, words) for name, check in over if (words := self._heed(name, check))]

    def _heed(self, name: str, check: Future[Looked | None]) -> str:
        del self._running[name]
        failure = check.exception()
        self._looked[name] = check.result() if failure is None else None
        if failure is None or isinstance(failure, UnknownWorkerError | LeftToTheNextError):
            return ""
        if not isinstance(failure, LlmcError):
            raise failure
        self._wanted.setdefault(name, time.monotonic() + AGAIN_SECS)
        return f"its work could not be checked: {failure.what}"

    def drop(self, name: str) -> None:
        """The worker was removed: nobody waits for what is known of its work."""
        self._wanted.pop(name, None)
        if name in self._running:
            self._running[name][1].set()

    def close(self) -> None:
        """The daemon is leaving: what runs is ended, and the next one begins it again."""
        for name in self._running:
            self.drop(name)
        self._pool.shutdown(wait=True, cancel_futures=True)
