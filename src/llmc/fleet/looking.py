"""Asking all machines at once how they are, where no daemon listens to them. It takes as long as the slowest may."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress

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
    names = [name for name, member in read_fleet(site.root).members.items() if not member.lost]
    pool = ThreadPoolExecutor(AT_ONCE)
    asked = [pool.submit(_look_at, site, name) for name in names]
    wait(asked, WITHIN_SECS)
    pool.shutdown(wait=False, cancel_futures=True)


def _look_at(site: Site, name: str) -> None:
    with suppress(LlmcError), Calls(site) as calls:
        calls.look(name, "--version")
