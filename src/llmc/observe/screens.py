"""Reading the screens of agents that do not report by themselves."""

from __future__ import annotations

import hashlib

from llmc.core import events as ev
from llmc.core.classify import read_screen
from llmc.core.lifecycle import Decision
from llmc.model import Session
from llmc.observe.attention import note_reading
from llmc.site import Site

STABLE_AFTER_SECS = 3.0


class ScreenLooks:
    """Remembers since when each screen is as it is: only a stable screen says something."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[bytes, float]] = {}

    def look(self, site: Site, name: str) -> list[Decision]:
        worker = site.worker(name)
        if worker.session is not Session.UP or worker.reports_events:
            return []
        pane = site.tmux.panes().get(worker.session_id)
        if pane is None or pane.dead:
            return []
        screen = site.tmux.capture(pane.id)
        reading = read_screen(site.agent_of(worker).pack, screen)
        note_reading(site, name, reading, site.now())
        if not self._is_stable(name, screen, site.now()):
            return []
        confident = reading.state != "UNKNOWN"
        return [site.ledger.apply(name, ev.ScreenRead(site.now(), reading.state, reading.detail, confident))]

    def _is_stable(self, name: str, screen: str, now: float) -> bool:
        digest = hashlib.sha256(screen.encode("utf-8", "replace")).digest()
        seen = self._since.get(name)
        if seen is None or seen[0] != digest:
            self._since[name] = (digest, now)
            return False
        return now - seen[1] >= STABLE_AFTER_SECS
