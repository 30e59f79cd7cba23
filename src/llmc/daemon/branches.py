"""Noticing that a worker's branch moved, wherever git keeps it and whoever moved it.

A commit in the worktree is seen in the log of its HEAD. A branch may also be moved from elsewhere, packed away with
all others, or kept in a table together with them; then everybody is looked at, by one question for all.
"""

from __future__ import annotations

from collections.abc import Iterable

from llmc.host.watch import Watch
from llmc.root import Root

NAME = "*branches*"
"""Not a worker: worker names begin with a letter."""
WORKTREE_FILES = frozenset(("HEAD", "ORIG_HEAD", "rebase-merge", "rebase-apply"))
HEADS = "refs/heads/llmc"


def watch_branches(root: Root, watch: Watch, workers: Iterable[str] = ()) -> None:
    """Done again, it finds what was made anew: git removes the directory of branches that were all packed."""
    watch.add(root.git_dir, NAME, frozenset(("packed-refs", "reftable")))
    watch.add(f"{root.git_dir}/refs/heads", NAME, frozenset(("llmc",)))
    watch.add(f"{root.git_dir}/reftable", NAME)
    for worker in workers:
        _watch_own(root, watch, worker)


def watch_branch(root: Root, watch: Watch, worker: str) -> None:
    git_dir = f"{root.git_dir}/worktrees/{worker}"
    watch.add(git_dir, worker, WORKTREE_FILES)
    watch.add(root.worktrees, worker, frozenset((worker,)))
    watch.add(f"{git_dir}/logs", worker)
    watch.add(f"{git_dir}/reftable", worker)
    _watch_own(root, watch, worker)


def _watch_own(root: Root, watch: Watch, worker: str) -> None:
    """In the clone, and where it has one in the git directory of its fence."""
    for place in (root.git_dir, root.fence_store(worker)):
        watch.add(f"{place}/{HEADS}", worker, frozenset((worker,)))
