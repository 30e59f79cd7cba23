"""What a step would drop, in words, so that a person can be asked first."""

from __future__ import annotations

from llmc.git.repository import status
from llmc.model import Worker
from llmc.observe.branches import work_ahead
from llmc.site import Site


def describe_loss(site: Site, worker: Worker) -> str:
    """Empty when nothing would be lost."""
    if not site.host.is_dir(worker.worktree_path):
        return ""
    parts = []
    if work_ahead(site, worker) is not None:
        parts.append("commits that are not merged")
    dirty = len(status(site.git, worker.worktree_path))
    if dirty:
        parts.append(f"{dirty} uncommitted file{'s' if dirty != 1 else ''}")
    return " and ".join(parts)
