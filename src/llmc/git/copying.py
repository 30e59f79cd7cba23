"""Bringing a commit from LLMC's clone into the user's repository."""

from __future__ import annotations

from llmc.git.clone import REMOTE, has_lfs
from llmc.git.repository import uses_lfs
from llmc.git.runner import LONG, Git


def bring_objects(git: Git, source: str, root: str, ref: str, sha: str) -> None:
    """Copies the commit over without giving it a name in the user's repository."""
    if has_lfs(git) and uses_lfs(git, root, sha):
        git.run(root, "lfs", "push", REMOTE, ref, timeout=LONG)
    plain = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
    git.run(source, "fetch", *plain, f"{root}/.git", ref, timeout=LONG)
