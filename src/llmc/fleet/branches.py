"""The hub's branch on a machine's copy: pushed before anything that stands on it."""

from __future__ import annotations

from llmc.care.acting import newest_tip
from llmc.fleet.registry import Machine
from llmc.fleet.transport import push_branch
from llmc.site import Site


def send_branch(site: Site, machine: Machine, tip: str = "") -> str:
    """Where the branch is, here and there."""
    tip = tip or newest_tip(site)
    push_branch(site.git, machine, site.root.path, site.config.repo.branch, tip)
    return tip
