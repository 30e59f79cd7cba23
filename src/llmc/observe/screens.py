"""Reading screens: of agents that do not report by themselves, and of those that have fallen silent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from llmc.core import events as ev
from llmc.core.classify import Reading, Screen, read_screen
from llmc.core.lifecycle import Decision
from llmc.core.moves.heard import NOTED_EVERY_SECS
from llmc.core.moves.observed import is_outdated
from llmc.model import Session, Work, Worker
from llmc.observe.attention import note_reading
from llmc.site import Site
from llmc.store.ledger import UnknownWorkerError

STABLE_AFTER_SECS = 3.0


@dataclass(frozen=True, slots=True)
class Seen:
    """A screen, since when it is as it is, and whether that was reported already."""

    digest: bytes
    since: float
    told: bool = False


def follows_screen_of(worker: Worker) -> bool:
    """Whether every change of its terminal is looked at."""
    return worker.session is Session.UP and not worker.reports_events


def silent_workers(site: Site) -> list[str]:
    """Whose agent reports by itself, is at work, and has not said a word for a while: no CLI reports everything."""
    now = site.now()
    return [worker.name for worker in site.ledger.load().workers.values() if _is_quiet(site, worker, now)]


def _is_quiet(site: Site, worker: Worker, now: float) -> bool:
    at_work = worker.work in (Work.WORKING, Work.REJECTED) and worker.session is Session.UP and not worker.pending
    silent = now - worker.last_activity_unix
    return at_work and worker.reports_events and silent >= site.ledger.policy_of(worker.name).quiet_after_secs


def reads_screen_of(site: Site, worker: Worker) -> bool:
    return follows_screen_of(worker) or _is_quiet(site, worker, site.now())


class ScreenLooks:
    """Only a stable screen says something: remembers since when each one is as it is."""

    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}

    def look(self, site: Site, names: Iterable[str]) -> list[Decision]:
        """Reads the screens of these workers, all of them in one question to tmux."""
        panes = site.tmux.panes()
        workers = [worker for worker in (_find(site, name) for name in names) if worker is not None]
        shown = [
            w for w in workers if reads_screen_of(site, w) and w.session_id in panes and not panes[w.session_id].dead
        ]
        at = site.now()
        screens = site.tmux.captures([panes[worker.session_id].id for worker in shown])
        decisions = []
        for worker, screen in zip(shown, screens, strict=True):
            decision = self._read(site, worker, Screen(screen, panes[worker.session_id].title), at)
            decisions += [decision] if decision is not None else []
        return decisions

    def again_in(self, name: str, now: float) -> float | None:
        """When to look once more, if nothing changes until then; None when there is nothing to wait for."""
        seen = self._seen.get(name)
        if seen is None or seen.told:
            return None
        return max(0.0, seen.since + STABLE_AFTER_SECS - now)

    def _read(self, site: Site, worker: Worker, screen: Screen, at: float) -> Decision | None:
        reading = read_screen(site.agent_of(worker).pack, screen)
        digest = hashlib.sha256(screen.text.encode("utf-8", "replace")).digest()
        seen = self._seen.get(worker.name)
        if seen is None or seen.digest != digest:
            self._seen[worker.name] = Seen(digest, at)
            note_reading(site, worker.name, reading, at)
            return site.ledger.apply(worker.name, ev.ScreenMoved(at)) if _is_news(worker, at) else None
        if seen.told or at - seen.since < STABLE_AFTER_SECS:
            return None
        decision = _apply(site, worker.name, reading, at)
        self._seen[worker.name] = Seen(digest, seen.since, told=not is_outdated(decision.worker, at))
        return decision


def _is_news(worker: Worker, now: float) -> bool:
    """A terminal in which something goes on is a sign of life of an agent that gives no other; noted now and then."""
    return not worker.reports_events and now - worker.last_activity_unix >= NOTED_EVERY_SECS


def _find(site: Site, name: str) -> Worker | None:
    try:
        return site.worker(name)
    except UnknownWorkerError:
        return None


def _apply(site: Site, name: str, reading: Reading, at: float) -> Decision:
    confident = reading.state != "UNKNOWN"
    return site.ledger.apply(name, ev.ScreenRead(at, reading.state, reading.detail, confident))
