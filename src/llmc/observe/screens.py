"""Reading the screens of agents that do not report by themselves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from llmc.core import events as ev
from llmc.core.classify import Reading, Screen, read_screen
from llmc.core.lifecycle import Decision
from llmc.model import Session, Worker
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


def reads_screen_of(worker: Worker) -> bool:
    return worker.session is Session.UP and not worker.reports_events


class ScreenLooks:
    """Only a stable screen says something: remembers since when each one is as it is."""

    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}

    def look(self, site: Site, names: Iterable[str]) -> list[Decision]:
        """Reads the screens of these workers, all of them in one question to tmux."""
        panes = site.tmux.panes()
        workers = [worker for worker in (_find(site, name) for name in names) if worker is not None]
        shown = [w for w in workers if reads_screen_of(w) and w.session_id in panes and not panes[w.session_id].dead]
        screens = site.tmux.captures([panes[worker.session_id].id for worker in shown])
        decisions = []
        for worker, screen in zip(shown, screens, strict=True):
            decision = self._read(site, worker, Screen(screen, panes[worker.session_id].title))
            decisions += [decision] if decision is not None else []
        return decisions

    def again_in(self, name: str, now: float) -> float | None:
        """When to look once more, if nothing changes until then; None when there is nothing to wait for."""
        seen = self._seen.get(name)
        if seen is None or seen.told:
            return None
        return max(0.0, seen.since + STABLE_AFTER_SECS - now)

    def _read(self, site: Site, worker: Worker, screen: Screen) -> Decision | None:
        now = site.now()
        reading = read_screen(site.agent_of(worker).pack, screen)
        digest = hashlib.sha256(screen.text.encode("utf-8", "replace")).digest()
        seen = self._seen.get(worker.name)
        if seen is None or seen.digest != digest:
            self._seen[worker.name] = Seen(digest, now)
            note_reading(site, worker.name, reading, now)
            return None
        if seen.told or now - seen.since < STABLE_AFTER_SECS:
            return None
        self._seen[worker.name] = Seen(digest, seen.since, told=True)
        return _apply(site, worker.name, reading)


def _find(site: Site, name: str) -> Worker | None:
    try:
        return site.worker(name)
    except UnknownWorkerError:
        return None


def _apply(site: Site, name: str, reading: Reading) -> Decision:
    confident = reading.state != "UNKNOWN"
    return site.ledger.apply(name, ev.ScreenRead(site.now(), reading.state, reading.detail, confident))
