"""What git says when it fails, and what a user can do about it. Pure."""

from __future__ import annotations

import errno
import os
import re

from llmc.errors import SYSTEM_HINTS, LlmcError


class GitError(LlmcError):
    """Git did not do what it was asked."""

    def __init__(self, command: tuple[str, ...], words: str, code: int = 1) -> None:
        super().__init__(f"`git {subcommand(command)}` failed: {summary(words, code)}", hint_for(words))
        self.command = command
        self.words = words
        self.code = code


# Only a lock file that exists is worth waiting for. "cannot lock ref ... is at X but expected Y" is an answer.
_LOCKED = re.compile(
    r"Unable to create '(?P<path>[^\n]+\.lock)': File exists|could not lock config file .+: File exists"
)

_TOLD_BY_GIT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES)

_HINTS: tuple[tuple[str, str], ...] = (
    (
        r"detected dubious ownership in repository at '(?P<path>[^\n]+)'",
        "the repository belongs to another user; if you trust it, run "
        "`git config --global --add safe.directory '{path}'`",
    ),
    (
        r"Unable to create '(?P<path>[^\n]+\.lock)': File exists",
        "another git is at work there; if none is, a crashed one left the lock behind: remove {path}",
    ),
    (r"could not lock config file", "another git is changing the configuration; try again"),
    (
        r"tell me who you are|empty ident name|identity unknown|auto-detect email|no email was given",
        "tell git who you are: `git config --global user.name NAME` and `git config --global user.email ADDRESS`",
    ),
    (
        r"failed to sign|gpg failed|No private key found|Couldn't load public key|agent refused operation",
        "unlock your signing key, or turn commit.gpgSign off, and try again",
    ),
    (
        r"You have unstaged changes|index contains uncommitted changes|local changes .+ would be overwritten",
        "commit these changes, or put them away, and try again",
    ),
    *((re.escape(os.strerror(refusal)), SYSTEM_HINTS[refusal]) for refusal in _TOLD_BY_GIT),
    (r"insufficient permission", SYSTEM_HINTS[errno.EACCES]),
    (r"git-lfs|git lfs|smudge filter lfs", "install git-lfs, then run `git lfs fetch` in the repository"),
    (
        r"is corrupt|bad object|object file .+ is empty|index file corrupt|missing blob",
        "run `git fsck` in the repository to see what is damaged",
    ),
)


def hint_for(words: str) -> str:
    for pattern, hint in _HINTS:
        found = re.search(pattern, words)
        if found:
            return hint.format(**found.groupdict())
    return "run `llmc doctor` to see what is wrong"


def is_locked(words: str) -> bool:
    """Whether git stopped only because another git holds a lock file."""
    return bool(_LOCKED.search(words))


def summary(words: str, code: int) -> str:
    """The lines that say what is wrong, without git's prefixes and advice."""
    if not words:
        return f"ended by signal {-code}" if code < 0 else f"exit code {code}, without a word"
    lines = [line for line in words.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(fatal|error): ", line)] or lines
    return "; ".join(re.sub(r"^(fatal|error): ", "", line).strip() for line in telling[:3])


def subcommand(command: tuple[str, ...]) -> str:
    """The verb of a git command line, past options such as `-c name=value`."""
    words = iter(command)
    for word in words:
        if word == "-c":
            next(words, None)
        elif not word.startswith("-"):
            return word
    return " ".join(command)
