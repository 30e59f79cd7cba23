"""What is cleared away now and then: old backups, the far end of the log of events, unfinished reports."""

from __future__ import annotations

import time

from llmc.core.lifecycle.clocks import surely_past
from llmc.git.backup import expire_backups
from llmc.host.clock import read_clock
from llmc.site import Site
from llmc.store.spool import sweep

EVERY_SECS = 3600.0
EVENTS_KEPT = 100_000


class Upkeep:
    def __init__(self) -> None:
        self._due = 0.0

    def when_due(self, site: Site) -> None:
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + EVERY_SECS
        keep = site.config.backup
        state = site.ledger.load()
        past = surely_past(state.clock, read_clock())
        expire_backups(site.git, site.root.path, keep.keep_days, keep.keep_count, past)
        site.ledger.events.prune(EVENTS_KEPT)
        for name in state.workers:
            sweep(site.root.spool(name), EVERY_SECS)
