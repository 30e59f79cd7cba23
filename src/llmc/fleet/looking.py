"""Asking all machines at once how they are, where no daemon listens to them. It takes as long as the slowest may."""

from __future__ import annotations

import time
from contextlib import suppress
from threading import Semaphore, Thread

from llmc.errors import LlmcError
from llmc.fleet.calls import Calls
from llmc.fleet.registry import read_fleet
from llmc.fleet.wire import MachineAnswer, answer_in
from llmc.site import Site
from llmc.store.snapshot import read_daemon_pid

AT_ONCE = 16
WITHIN_SECS = 5.0


def look_round(site: Site) -> None:
    """What is heard is kept; who does not answer in time stays as it was known."""
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
    asking = [Thread(target=ask, args=(name,), daemon=True) for name in names]
    for each in asking:
        each.start()
    for each in asking:
        each.join(max(0.0, until - time.monotonic()) + 1.0)
    return dict(answers)
