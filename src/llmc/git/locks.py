"""Lock files of git in the user's repository: whose they are, and what may be done about them."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from llmc.errors import LlmcError
from llmc.git.repository import HEADS, git_paths
from llmc.git.runner import Git
from llmc.host.entries import remove
from llmc.host.holders import Holder, can_tell_holders, holder_of

LOOK_EVERY_SECS = 0.05
CLOCKS_DIFFER_SECS = 2.0
"""The time of a file is that of the last tick of its disk."""
NOBODY_AFTER_SECS = 60.0
"""Where nobody can tell who has a lock, one that is as old as this was left."""


class SourceLockedError(LlmcError):
    """A git of the user's has locked their repository, or has left its lock behind; nothing was changed."""


@dataclass(frozen=True, slots=True)
class LockFile:
    path: str
    made_unix: float
    holder: Holder | None
    """Who may still use it; None when nobody does, or nobody can tell."""

    @property
    def age_secs(self) -> float:
        return max(0.0, time.time() - self.made_unix)

    @property
    def is_of_index(self) -> bool:
        return self.path.endswith("/index.lock")

    @property
    def is_left(self) -> bool:
        return self.holder is None and (can_tell_holders() or self.age_secs > NOBODY_AFTER_SECS)


def locks_on(git: Git, place: str, branch: str) -> tuple[LockFile, ...]:
    """Those that keep the branch, and the checkout at `place`, from being changed."""
    names = ("index.lock", "HEAD.lock", "packed-refs.lock", f"{HEADS}{branch}.lock")
    paths = git_paths(git, place, *names)
    around = (git.host.real_path(place), os.path.dirname(git.host.real_path(paths[0])))
    found = (_look_at(path, around) for path in paths)
    return tuple(lock for lock in found if lock is not None)


def _look_at(path: str, around: tuple[str, ...]) -> LockFile | None:
    try:
        made = os.lstat(path).st_mtime
    except FileNotFoundError:
        return None
    return LockFile(path, made, holder_of(path, made, around, "git"))


def free_from_locks(git: Git, place: str, branch: str, since_unix: float) -> None:
    """Removes what a git that was ended by force has left since then.

    Waits for whoever is alive and has the index of the checkout, with a bound. Others do not matter here.
    """
    until = time.monotonic() + git.patience
    while True:
        kept = [lock for lock in locks_on(git, place, branch) if not _removed(lock, since_unix)]
        if not any(lock.is_of_index for lock in kept):
            return
        if time.monotonic() >= until:
            raise refusal(next(lock for lock in kept if lock.is_of_index))
        time.sleep(LOOK_EVERY_SECS)


def _removed(lock: LockFile, since_unix: float) -> bool:
    if not lock.is_left or lock.made_unix < since_unix - CLOCKS_DIFFER_SECS:
        return False
    remove(lock.path)
    return True


def refusal(lock: LockFile) -> SourceLockedError:
    if lock.holder is not None:
        return SourceLockedError(
            f"{lock.holder} is at work in your repository and has locked it: {lock.path}",
            "wait until it has ended, then try again",
        )
    return SourceLockedError(
        f"your repository is locked by {lock.path}, and LLMC did not make it",
        "make sure that no git is at work there, then remove the file, or let `llmc doctor --repair` do it",
    )
