"""The patrol: looks at everybody now and then, repairs what no signal told of, and counts it.

What it finds may just be on its way: only what is still there at a second look, with nobody at it, was missed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from llmc.core.lifecycle.clocks import elapsed
from llmc.core.lifecycle.patrol import PatrolReport, told
from llmc.daemon.journal import EVERYBODY, Journal
from llmc.errors import LlmcError
from llmc.model import Worker
from llmc.observe.overview import glance, unexpected
from llmc.observe.troubles import all_troubles
from llmc.site import Site
from llmc.store.patrol_file import keep_report, plain_report

SURE_AFTER_SECS = 2.0
"""A signal is dealt with in much less."""

T = TypeVar("T")
Findings = dict[str, tuple[tuple[str, ...], Worker]]
"""By worker: what is not as it should be, and how the worker was then."""


@dataclass(slots=True)
class Patrol:
    """One round at a time."""

    began: float
    """When, by the clock of the world."""
    seen: Findings | None = None
    """What the first look has found with nobody at it."""
    look_again_at: float | None = None
    """In monotonic time."""
    cared_for: Findings = field(default_factory=dict)
    """Whom the patrol sent somebody to."""
    repaired: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def first_look(self, found: Findings) -> None:
        self.seen = found
        self.look_again_at = time.monotonic() + SURE_AFTER_SECS if found else None

    def second_look(self, found: Findings) -> list[str]:
        """Whom somebody has to be sent to now."""
        self.look_again_at = None
        for name, (kinds, worker) in found.items():
            lasting = tuple(kind for kind in kinds if kind in (self.seen or {}).get(name, ((), worker))[0])
            if lasting:
                self.cared_for[name] = (lasting, worker)
        return list(self.cared_for)

    def was_cared_for(self, name: str, now: Worker | None) -> None:
        """What care did not change was no miss: it is as it has to be, for a reason that the patrol does not know."""
        if name in self.cared_for:
            kinds, before = self.cared_for.pop(name)
            if now is not None and now != before:
                self.repaired[name] = kinds

    @property
    def is_over(self) -> bool:
        return self.seen is not None and self.look_again_at is None and not self.cared_for


class Patrols:
    """Goes on patrol when it is time, or when somebody asks for it; one at a time.

    `attended` tells who is being looked after anyway, `send_to` sends somebody to a worker, and `look_upstream` begins
    each patrol: `looked_upstream` is called when that is over.
    """

    def __init__(
        self,
        attended: Callable[[str], bool],
        send_to: Callable[[str], None],
        look_upstream: Callable[[], None],
        journal: Journal,
    ) -> None:
        self._attended = attended
        self._send_to = send_to
        self._look_upstream = look_upstream
        self._journal = journal
        self._under_way: Patrol | None = None
        self._next = 0.0

    def moments(self) -> list[float]:
        """When there is something to do, in monotonic time."""
        again = self._under_way.look_again_at if self._under_way is not None else None
        return [self._next] if again is None else [self._next, again]

    def is_time(self, site: Site) -> bool:
        """Once for each interval of the settings."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + site.config.defaults.patrol_interval_secs
        return True

    def begin_if_asked(self, site: Site) -> None:
        """Who typed `llmc patrol` waits for it."""
        if self._under_way is None and was_asked_for(site):
            self.begin(site)

    def begin(self, site: Site) -> None:
        if self._under_way is not None:
            return
        self._under_way = Patrol(site.now())
        self._heeding(lambda: site.ledger.remember_patrol(site.now()))
        self._look_upstream()

    def look_at_all(self, site: Site) -> None:
        """Sends somebody to whoever is not as the state says, at once. Who is there already may have looked before."""
        for name in self._found(site):
            self._send_to(name)

    def looked_upstream(self, site: Site) -> None:
        """Everybody is looked at; what a moved branch asks for is done at once, what a patrol finds is made sure of."""
        if self._under_way is not None and self._under_way.seen is None:
            self._under_way.first_look(self._unattended(site))
        else:
            self.look_at_all(site)

    def go_on(self, site: Site) -> PatrolReport | None:
        """The report, when there is one."""
        patrol = self._under_way
        if patrol is None:
            return None
        if patrol.look_again_at is not None and time.monotonic() >= patrol.look_again_at:
            for name in patrol.second_look(self._unattended(site)):
                self._send_to(name)
        if not patrol.is_over:
            return None
        self._under_way = None
        return self._heeding(lambda: self._report(site, patrol))

    def was_cared_for(self, site: Site, name: str, *, done: bool) -> None:
        if self._under_way is not None and name in self._under_way.cared_for:
            after = self._heeding(lambda: site.worker(name)) if done else None
            self._under_way.was_cared_for(name, after)

    def _unattended(self, site: Site) -> Findings:
        """Those that no signal has told of: nobody is there."""
        return {name: finding for name, finding in self._found(site).items() if not self._attended(name)}

    def _found(self, site: Site) -> Findings:
        """Who is not as the state says. What cannot be told now is left to the next patrol."""
        return self._heeding(lambda: _look(site)) or {}

    def _report(self, site: Site, patrol: Patrol) -> PatrolReport:
        report = keep_patrol(site, patrol)
        if report.repaired:
            self._journal.note(f"patrol: {told(plain_report(report))}")
        return report

    def _heeding(self, act: Callable[[], T]) -> T | None:
        """What the disk refuses is said, and ends no daemon."""
        try:
            return act()
        except LlmcError as failure:
            self._journal.complain(EVERYBODY, f"{failure.what} ({failure.hint})")
        except OSError as failure:
            self._journal.complain(EVERYBODY, str(failure))
        return None


def _look(site: Site) -> Findings:
    state = site.ledger.load()
    found = unexpected(state, glance(site, state), site.ledger.policy_of)
    return {name: (kinds, state.workers[name]) for name, kinds in found.items()}


def keep_patrol(site: Site, patrol: Patrol) -> PatrolReport:
    """Keeps the report and notes with each worker what was repaired."""
    now = site.now()
    took, troubles = elapsed(patrol.began, now), all_troubles(site, site.ledger.load())
    report = PatrolReport(patrol.began, took, patrol.repaired, troubles)
    for name, kinds in patrol.repaired.items():
        site.ledger.note(name, now, "patrol", f"repaired what was missed: {', '.join(kinds)}")
    return keep_report(site.root.patrol_file, report)


def was_asked_for(site: Site) -> bool:
    """Whether somebody typed `llmc patrol`; they are answered once."""
    with suppress(FileNotFoundError):
        os.unlink(site.root.patrol_request)
        return True
    return False
