"""Repositories inside a worktree of which `git status` says nothing, though commits may be in them and nowhere else."""

from __future__ import annotations

from llmc.git.parse import nul_fields
from llmc.git.runner import Git

_GITLINK = "160000 "


def repositories_passed_over(git: Git, worktree: str) -> tuple[str, ...]:
    """Those that were made around files of the work, and submodules with commits that none of their remotes has."""
    listed = nul_fields(git.run(worktree, "ls-files", "--stage", "-z").out)
    entries = {line.partition("\t")[2]: line.startswith(_GITLINK) for line in listed}
    around = {path[:end] for path in entries for end, letter in enumerate(path) if letter == "/"}
    made = [f"{each}/.git" for each in sorted(around) if git.host.exists(f"{worktree}/{each}/.git")]
    submodules = [path for path, is_link in entries.items() if is_link and git.host.exists(f"{worktree}/{path}/.git")]
    return (*made, *(path for path in submodules if _has_own_commits(git, f"{worktree}/{path}")))


def _has_own_commits(git: Git, submodule: str) -> bool:
    """Also when git cannot tell."""
    done = git.run(submodule, "rev-list", "--max-count=1", "HEAD", "--branches", "--not", "--remotes", check=False)
    return not done.ok or bool(done.out)
