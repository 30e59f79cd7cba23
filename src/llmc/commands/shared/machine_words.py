"""Machines as commands show them, and the daemon that runs on each."""

from __future__ import annotations

import time
from typing import Any

from llmc.app import App
from llmc.daemon.process import running_daemon
from llmc.errors import LlmcError
from llmc.fleet.calls import Calls
from llmc.fleet.known import machines_told, read_known
from llmc.fleet.registry import Machine
from llmc.fleet.shapes import BOARD
from llmc.fleet.words import complaint_in
from llmc.root import Root
from llmc.site import Site

STARTS_WITHIN_SECS = 30.0
LOOKS_EVERY_SECS = 0.5


def told_machines(root: Root) -> list[dict[str, Any]]:
    return machines_told(read_known(root), time.time(), heeded=running_daemon(root) is not None)


def machine_data(root: Root, name: str) -> dict[str, Any] | None:
    return next((each for each in told_machines(root) if each["name"] == name), None)


def bring_up_there(app: App, site: Site, machine: Machine) -> list[str]:
    """Its own daemon looks after its workers. What kept it from being started, in a line."""
    app.console.progress(f"starting the daemon on {machine.name}")
    if not machine.reach.keeps_processes:
        return _wait_for_daemon_there(site, machine)
    try:
        with Calls(site, anew=True) as calls:
            said = calls.do(machine.name, "up", "--detach", "--json", repeatable=True)
    except LlmcError as silent:
        return [f"note: {silent.what}; {silent.hint}"]
    what, hint = complaint_in(said.err)
    return [f"note: its daemon did not start: {what}; {hint}"] if said.code and "runs already" not in what else []


def _wait_for_daemon_there(site: Site, machine: Machine) -> list[str]:
    """Its own job starts it."""
    until = time.monotonic() + STARTS_WITHIN_SECS
    with Calls(site, anew=True) as calls:
        while time.monotonic() < until:
            said = calls.look(machine.name, "status", "--json")
            if said.shaped(BOARD)["daemon"]["running"]:
                return []
            time.sleep(LOOKS_EVERY_SECS)
    return [f"note: its daemon has not started within {STARTS_WITHIN_SECS:.0f} s: `llmc machine check {machine.name}`"]
