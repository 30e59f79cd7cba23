"""Repositories inside a worktree of which `git status` says nothing, though commits may be in them and nowhere else."""

from __future__ import annotations

from llmc.git.runner import Git

_GITLINK = "160000"


def repositories_passed_over(git: Git, worktree: str, index: tuple[str, ...]) -> tuple[str, ...]:
    """Those that were made around files of the work, and submodules with commits that none of their remotes has.

    `index` are the lines of `git ls-files -v --stage`.
    """
    around: set[str] = set()
    for line in index:
        directory = line[line.index("\t") + 1 :].rpartition("/")[0]
        while directory and directory not in around:
            around.add(directory)
            directory = directory.rpartition("/")[0]
    made = [f"{each}/.git" for each in sorted(around) if _is_repository(git, worktree, each)]
    links = (line.partition("\t")[2] for line in index if line.startswith(_GITLINK, 2))
    submodules = [path for path in links if _is_repository(git, worktree, path)]
    return (*made, *(path for path in submodules if _has_own_commits(git, f"{worktree}/{path}")))


def _is_repository(git: Git, worktree: str, path: str) -> bool:
    """Through a link it is another place's."""
    place = f"{worktree}/{path}"
    return git.host.exists(f"{place}/.git") and git.host.real_path(place) == f"{git.host.real_path(worktree)}/{path}"


def _has_own_commits(git: Git, submodule: str) -> bool:
    """Also when git cannot tell."""
    done = git.run(submodule, "rev-list", "--max-count=1", "HEAD", "--branches", "--not", "--remotes", check=False)
    return not done.ok or bool(done.out)
