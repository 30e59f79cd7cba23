"""What a step would drop, in words, so that a person can be asked first."""

from __future__ import annotations

from llmc.core.display import some_files
from llmc.git.backup import left_out_of_backup
from llmc.git.repository import status
from llmc.model import Worker
from llmc.observe.branches import work_ahead
from llmc.site import Site


def describe_loss(site: Site, worker: Worker) -> str:
    """Empty when nothing would be lost."""
    parts = []
    if work_ahead(site, worker) is not None:
        parts.append("commits that are not merged")
    if site.host.is_dir(worker.worktree_path):
        dirty = len(status(site.git, worker.worktree_path))
        if dirty:
            parts.append(f"{dirty} uncommitted file{'s' if dirty != 1 else ''}")
    return " and ".join(parts)


def not_kept(site: Site, worker: Worker) -> str:
    """What even a backup cannot keep when the worktree is removed; empty when it keeps everything."""
    if not site.host.is_dir(worker.worktree_path):
        return ""
    found = left_out_of_backup(site.git, worker.worktree_path)
    return f"repositories of their own in {some_files(found)}" if found else ""
