"""Runs the merge train in a thread of its own, whenever something waits in it."""

from __future__ import annotations

import os
from collections.abc import Callable

from llmc.care.elsewhere import NOBODY_ELSEWHERE, WorkersElsewhere
from llmc.care.train import run_train
from llmc.care.train_endings import KIND
from llmc.care.train_entries import BUSY, forecast, unattended
from llmc.core.tasks.train import TrainEntry
from llmc.daemon.side_job import SideJob
from llmc.site import Site
from llmc.store.snapshot import read_train

NAME = "*train*"
"""Not a worker: worker names begin with a letter."""
BUSY_RETRY_SECS = 2.0
"""Somebody else runs it, and may end before all of it has landed."""
FAILED_RETRY_SECS = 30.0
TOLD_SECS = 0.5
"""What machines tell comes in bursts."""


class TrainKeeper:
    """`wake` is called when a run is over."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._job: SideJob[bool] = SideJob("train", wake)
        self.soon, self.moments, self.close = self._job.soon, self._job.moments, self._job.close
        self._in_train: set[str] = set()
        self._told: dict[str, str] = {}
        """Why the work of each worker does not land by itself, as it was last told."""

    def changed(self, site: Site) -> set[str]:
        """Those that have left the train since: their work follows the branch again."""
        now = {entry["worker"] for entry in read_train(site.root.train_mark)["entries"]}
        gone, self._in_train = self._in_train - now, now
        self.soon()
        return gone

    def begin(self, site: Site) -> None:
        self._job.begin(lambda: self._run(site))

    def _run(self, site: Site) -> bool:
        """False when it has to be tried again."""
        all_seen = self._let_in(site)
        train = site.ledger.tasks.train
        if train.is_paused or not train.open():
            return all_seen
        return run_train(site, elsewhere=_elsewhere(site)) and all_seen

    def _let_in(self, site: Site) -> bool:
        """False when somebody could not be looked at."""
        found = list(unattended(site, _elsewhere(site)))
        waiting = dict(each for each in found if not isinstance(each, TrainEntry))
        for name, why in waiting.items():
            if why not in (BUSY, self._told.get(name)):
                site.ledger.note(name, site.now(), KIND, f"does not land by itself: {why}")
        self._told = {name: self._told.get(name, "") if why == BUSY else why for name, why in waiting.items()}
        entries = [each for each in found if isinstance(each, TrainEntry)]
        if entries:
            site.ledger.tasks.train.join(entries, forecast(site))
        return BUSY not in waiting.values()

    def machines_told(self) -> None:
        self.soon(TOLD_SECS)

    def collect(self) -> str:
        """The words of a run that failed; empty when all is well."""
        came = self._job.collect()
        if isinstance(came, Exception):
            self.soon(FAILED_RETRY_SECS)
            return f"the merge train stopped: {came}"
        if came is False:
            self.soon(BUSY_RETRY_SECS)
        return ""


def _elsewhere(site: Site) -> WorkersElsewhere:
    if not os.path.exists(site.root.machines):
        return NOBODY_ELSEWHERE
    from llmc.fleet.train import TrainElsewhere

    return TrainElsewhere(site)
