"""Bringing a commit from LLMC's clone into the user's repository."""

from __future__ import annotations

from llmc.git.clone import REMOTE, has_lfs
from llmc.git.own_view import view_of
from llmc.git.repository import uses_lfs
from llmc.git.runner import LONG, Git

_ANY_COMMIT = "git -c uploadpack.allowAnySHA1InWant=true upload-pack"


def bring_objects(git: Git, source: str, root: str, ref: str, sha: str) -> None:
    """Copies the commit over without giving it a name in the user's repository.

    The commit itself is asked for, in LLMC's own view: what agents can do to names and settings decides nothing.
    """
    if has_lfs(git) and uses_lfs(git, root, sha):
        git.run(root, "lfs", "push", REMOTE, ref, timeout=LONG)
    plain = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
    git.run(source, "fetch", *plain, f"--upload-pack={_ANY_COMMIT}", "--", view_of(root), sha, timeout=LONG)
