"""Asking all machines at once how they are, where no daemon listens to them. It takes as long as the slowest may."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

from llmc.errors import LlmcError
from llmc.fleet.calls import Calls
from llmc.fleet.notes import note_silent
from llmc.fleet.registry import machine_named, read_fleet
from llmc.site import Site
from llmc.store.snapshot import read_daemon_pid

WITHIN_SECS = 5.0


def look_round(site: Site) -> None:
    """What is heard is kept; of who does not answer in time, what was known."""
    if read_daemon_pid(site.root.daemon_lock) is not None:
        return
    names = [name for name, member in read_fleet(site.root).members.items() if not member.lost]
    # Not a pool: Python would wait at its end for whoever asks a dead machine.
    asking = {name: threading.Thread(target=_look_at, args=(site, name), daemon=True) for name in names}
    for each in asking.values():
        each.start()
    until = time.monotonic() + WITHIN_SECS
    for name, each in asking.items():
        each.join(max(0.0, until - time.monotonic()))
        if each.is_alive():
            with suppress(LlmcError):
                machine = machine_named(site.root, site.config, name)
                note_silent(site.root, machine, f"{name} did not answer within {WITHIN_SECS:.0f} s")


def _look_at(site: Site, name: str) -> None:
    with suppress(LlmcError), Calls(site) as calls:
        calls.look(name, "--version")
