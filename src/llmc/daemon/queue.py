"""Gives tasks out as soon as somebody is free for them, beside everything else and never in its way."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from llmc.care.queue import GivenOut, give_out
from llmc.core.tasks.queue import hand_of
from llmc.daemon.side_job import SideJob
from llmc.model import State
from llmc.site import Site

RETRY_SECS = 0.1
UNFIT_SECS = 5.0
"""Who takes no task is not asked again at once; nothing tells when that is over."""


class QueueWatch:
    """`wake` is called when a round is over."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._job: SideJob[GivenOut] = SideJob("queue", wake)
        self.moments, self.close = self._job.moments, self._job.close
        self._hands: dict[str, tuple[bool, bool]] = {}
        """Who is free, and who is there at all."""
        self._unfit: dict[str, tuple[str, float]] = {}
        """Who takes no task, why, and until when that is believed."""

    def changed(self) -> None:
        """A task may be given out that could not before."""
        self._job.soon()

    def workers_are(self, state: State) -> None:
        seen = {name: hand_of(worker, by_name_only=False) for name, worker in state.workers.items()}
        hands = {name: (hand.free, hand.present) for name, hand in seen.items()}
        if hands != self._hands:
            self._unfit = {name: why for name, why in self._unfit.items() if hands.get(name) == self._hands.get(name)}
            self._hands = hands
            self.changed()

    def begin(self, site: Site) -> None:
        now = time.monotonic()
        unfit = {name: why for name, (why, until) in self._unfit.items() if until > now}
        self._job.begin(lambda: _give_out(site, unfit))

    def collect(self) -> tuple[list[str], str]:
        """Who has a task now, and the words of a round that failed."""
        came = self._job.collect()
        if came is None or isinstance(came, GivenOut):
            return self._heed(came) if came is not None else [], ""
        self._job.soon(UNFIT_SECS)
        return [], f"tasks: {came}"

    def _heed(self, came: GivenOut) -> list[str]:
        now = time.monotonic()
        for name, why in came.unfit.items():
            known = self._unfit.get(name)
            if known is None or known[1] <= now:
                self._unfit[name] = (why, now + UNFIT_SECS)
        if came.again:
            self._job.soon(RETRY_SECS)
        elif came.unfit:
            self._job.soon(UNFIT_SECS)
        return [*came.given.values()]


def _give_out(site: Site, unfit: dict[str, str]) -> GivenOut:
    if not os.path.exists(site.root.machines):
        return give_out(site, unfit)
    from llmc.fleet.hands import hands_elsewhere
    from llmc.fleet.placing import place_by_name

    return give_out(site, unfit, hands_elsewhere(site.root), lambda task, name: place_by_name(site, task, name))
