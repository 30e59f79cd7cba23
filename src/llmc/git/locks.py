"""Lock files of git in the user's repository: whose they are, and what may be done about them."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from llmc.errors import LlmcError
from llmc.git.failure import subcommand
from llmc.git.repository import HEADS, git_paths
from llmc.git.runner import Git
from llmc.host.processes import can_look_around, holder_of
from llmc.values import Value

LOOK_EVERY_SECS = 0.05
CLOCKS_DIFFER_SECS = 2.0
"""The time of a file is that of the last tick of its disk."""
_READERS = frozenset(("log", "show", "diff", "blame", "grep", "help", "reflog", "shortlog", "cat-file", "daemon"))
"""They keep no lock while a person reads what they have written."""
NOBODY_AFTER_SECS = 60.0
"""Where nobody can tell who has a lock, one that is as old as this was left."""


class SourceLockedError(LlmcError):
    """A git of the user's has locked their repository, or has left its lock behind; nothing was changed."""


class LockFile(Value):
    path: str
    made_unix: float
    number: int
    """Of the file: the next lock of that name has another."""
    holder: str
    """Who may still use it; empty when nobody does, or nobody can tell."""

    @property
    def age_secs(self) -> float:
        return max(0.0, time.time() - self.made_unix)

    @property
    def is_of_index(self) -> bool:
        return self.path.endswith("/index.lock")

    @property
    def is_left(self) -> bool:
        return not self.holder and (can_look_around() or self.age_secs > NOBODY_AFTER_SECS)


def locks_on(git: Git, place: str, branch: str) -> tuple[LockFile, ...]:
    """Those that keep the branch, and the checkout at `place`, from being changed."""
    names = ("index.lock", "HEAD.lock", "ORIG_HEAD.lock", "packed-refs.lock", f"{HEADS}{branch}.lock")
    paths = git_paths(git, place, *names)
    around = (git.host.real_path(place), os.path.dirname(git.host.real_path(paths[0])))
    found = (_look_at(path, around) for path in paths)
    return tuple(lock for lock in found if lock is not None)


def _look_at(path: str, around: tuple[str, ...]) -> LockFile | None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if found.st_uid != os.geteuid():
        holder = "another user"
    else:
        holder = str(holder_of(path, found.st_mtime, around, "git", _only_reads) or "")
    return LockFile(path, found.st_mtime, found.st_ino, holder)


def _only_reads(command: str) -> bool:
    return subcommand(tuple(command.split()[1:])) in _READERS


def free_from_locks(git: Git, place: str, branch: str, since_unix: float, *, with_index: bool) -> None:
    """Removes what a git that was ended by force has left since then.

    With the index of the checkout: waits for whoever is alive and has it, with a bound. Others do not matter here.
    """
    until = time.monotonic() + git.patience
    while True:
        found = (lock for lock in locks_on(git, place, branch) if with_index or not lock.is_of_index)
        kept = [lock for lock in found if not _removed(lock, since_unix)]
        if not any(lock.is_of_index for lock in kept):
            return
        if time.monotonic() >= until:
            raise refusal(next(lock for lock in kept if lock.is_of_index))
        time.sleep(LOOK_EVERY_SECS)


def _removed(lock: LockFile, since_unix: float) -> bool:
    if not lock.is_left or lock.made_unix < since_unix - CLOCKS_DIFFER_SECS:
        return False
    remove_left(lock)
    return True


def remove_left(lock: LockFile) -> None:
    """Unless it was given back and another one was made in the time that it took to look who has it."""
    with suppress(FileNotFoundError):
        if os.lstat(lock.path).st_ino == lock.number:
            os.unlink(lock.path)


def refusal(lock: LockFile) -> SourceLockedError:
    if lock.holder:
        return SourceLockedError(
            f"{lock.holder} is at work in your repository and has locked it: {lock.path}",
            "wait until it has ended, then try again",
        )
    return SourceLockedError(
        f"your repository is locked by {lock.path}, and LLMC did not make it",
        "make sure that no git is at work there, then remove the file, or let `llmc doctor --repair` do it",
    )
