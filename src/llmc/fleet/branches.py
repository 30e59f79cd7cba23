"""The hub's branch on a machine's copy: pushed before anything that stands on it."""

from __future__ import annotations

from llmc.care.acting import newest_tip
from llmc.fleet.registry import Machine
from llmc.fleet.transport import push_branch
from llmc.host.locks import FileLock
from llmc.site import Site

PATIENCE_SECS = 120.0


def send_branch(site: Site, machine: Machine, tip: str = "") -> str:
    """Where the branch is, here and there."""
    tip = tip or newest_tip(site)
    path = site.root.inside("run", "locks", f"{machine.name}.branch")
    with FileLock(
        path, name=machine.name, timeout=PATIENCE_SECS
    ):  # the daemon sends it as soon as it moves, and commands do not wait for that
        push_branch(site.git, machine, site.root.path, site.config.repo.branch, tip)
    return tip
