"""Asking all machines at once how they are, where no daemon listens to them. It takes as long as the slowest may."""

from __future__ import annotations

import time
from contextlib import suppress
from threading import Semaphore, Thread

from llmc.errors import LlmcError
from llmc.fleet.calls import Calls
from llmc.fleet.registry import read_fleet
from llmc.site import Site
from llmc.store.snapshot import read_daemon_pid

AT_ONCE = 16
WITHIN_SECS = 5.0


def look_round(site: Site) -> None:
    """What is heard is kept; who does not answer in time stays as it was known."""
    if read_daemon_pid(site.root.daemon_lock) is not None:
        return
    turns, until = Semaphore(AT_ONCE), time.monotonic() + WITHIN_SECS
    names = [name for name, member in read_fleet(site.root).members.items() if not member.lost]
    looks = [Thread(target=_look_at, args=(site, name, turns, until), daemon=True) for name in names]
    for look in looks:
        look.start()
    for look in looks:
        look.join(max(0.0, until - time.monotonic()) + 1.0)


def _look_at(site: Site, name: str, turns: Semaphore, until: float) -> None:
    with turns:
        within = until - time.monotonic()
        with suppress(LlmcError), Calls(site, within) as calls:
            calls.ask(name, {"op": "run", "words": ["--version"]}, within)
