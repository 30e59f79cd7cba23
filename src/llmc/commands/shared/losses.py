"""What a step would drop, in words, so that a person can be asked first."""

from __future__ import annotations

from llmc.core.display import some
from llmc.git.backup import left_out_of_backup
from llmc.git.hidden import whole_status
from llmc.git.parse import StatusEntry
from llmc.git.worktree_identity import foreign_git, has_whole_record
from llmc.model import Worker
from llmc.observe.branches import work_ahead
from llmc.site import Site
from llmc.values import Value


class Loss(Value):
    words: str = ""
    """Empty when nothing would be lost."""
    not_kept: str = ""
    """What even a backup cannot keep when the worktree is removed; empty when it keeps everything."""


def find_loss(site: Site, worker: Worker) -> Loss:
    parts = []
    entries: tuple[StatusEntry, ...] = ()
    nested: tuple[str, ...] = ()
    if work_ahead(site, worker) is not None:
        parts.append("commits that are not merged")
    if site.host.is_dir(worker.worktree_path):
        foreign = foreign_git(site.host, site.root.path, worker.name)
        if foreign is not None:
            parts.append(f"a worktree that is not LLMC's any more ({foreign})")
        if can_be_asked(site, worker):
            seen = whole_status(site.git, worker.worktree_path)
            entries, nested = seen.entries, left_out_of_backup(site.git, worker.worktree_path, seen)
        if entries:
            parts.append(f"{len(entries)} uncommitted file{'s' if len(entries) != 1 else ''}")
    return Loss(" and ".join(parts), f"repositories of their own in {some(nested)}" if nested else "")


def note_of_foreign(site: Site, worker: Worker) -> str:
    """Taken before a step, for after it: where the repository of somebody else that is in its worktree goes."""
    foreign = foreign_git(site.host, site.root.path, worker.name) if site.host.is_dir(worker.worktree_path) else None
    kept = site.root.inside("aside")
    return f"\nnote: {worker.name}: {foreign}; what was there is kept under {kept}" if foreign is not None else ""


def can_be_asked(site: Site, worker: Worker) -> bool:
    is_own = site.host.read_link(worker.worktree_path) is None
    return is_own and has_whole_record(site.host, site.root.path, worker.name)
