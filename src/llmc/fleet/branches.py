"""The hub's branch on a machine's copy: pushed before anything that stands on it."""

from __future__ import annotations

from llmc.care.acting import newest_tip
from llmc.fleet.registry import Machine, lock_of_machine
from llmc.fleet.transport import push_branch
from llmc.site import Site

PATIENCE_SECS = 120.0


def send_branch(site: Site, machine: Machine, tip: str = "") -> str:
    """Where the branch is, here and there."""
    tip = tip or newest_tip(site)
    # The daemon sends it as soon as it moves, and commands do not wait for that.
    with lock_of_machine(site.root, machine.name, "branch", PATIENCE_SECS):
        push_branch(site.git, machine, site.root.path, site.config.repo.branch, tip)
    return tip
