"""Asking all machines at once how they are, where no daemon listens to them. It takes as long as the slowest may."""

from __future__ import annotations

import time
from contextlib import suppress
from threading import Semaphore, Thread

from llmc.errors import LlmcError
from llmc.fleet.calls import Calls
from llmc.fleet.notes import note_silent
from llmc.fleet.registry import machine_named, read_fleet
from llmc.fleet.wire import MachineAnswer, answer_in
from llmc.site import Site
from llmc.store.snapshot import read_daemon_pid

AT_ONCE = 16
WITHIN_SECS = 5.0


def look_round(site: Site) -> None:
    """What is heard is kept; of who does not answer in time, what was known."""
    if read_daemon_pid(site.root.daemon_lock) is None:
        ask_all(site, "--version")


def ask_all(site: Site, *words: str) -> dict[str, MachineAnswer]:
    """A command that only looks, on all machines at once. Without those that do not answer in time."""
    turns, until = Semaphore(AT_ONCE), time.monotonic() + WITHIN_SECS
    answers: dict[str, MachineAnswer] = {}

    def ask(name: str) -> None:
        with turns, suppress(LlmcError):
            within = until - time.monotonic()
            with Calls(site, within) as calls:
                answers[name] = answer_in(calls.ask(name, {"op": "run", "words": words}, within))

    names = [name for name, member in read_fleet(site.root).members.items() if not member.lost]
    # Not a pool: Python would wait at its end for whoever asks a dead machine.
    asking = {name: Thread(target=ask, args=(name,), daemon=True) for name in names}
    for each in asking.values():
        each.start()
    for name, each in asking.items():
        each.join(max(0.0, until - time.monotonic()) + 1.0)
        if each.is_alive():
            with suppress(LlmcError):
                silent = machine_named(site.root, site.config, name)
                note_silent(site.root, silent, f"{name} did not answer within {WITHIN_SECS:.0f} s")
    return dict(answers)
