"""What can go wrong in a way that a user can understand and fix."""

import errno
import os

SYSTEM_HINTS = {
    errno.ENOSPC: "the disk is full: free some disk space and try again",
    errno.EDQUOT: "your disk quota is used up: free some disk space and try again",
    errno.EFBIG: "the file may not grow that large here: see `ulimit -f`",
    errno.EROFS: "the disk is read-only: make it writable and try again",
    errno.EACCES: "check the owner and the permissions, then try again",
    errno.EPERM: "check the owner and the permissions, then try again",
    errno.ENAMETOOLONG: "use a shorter name",
    errno.EMFILE: "too many files are open: raise the limit with `ulimit -n`",
    errno.ENOLCK: "this file system has no locks: put the LLMC root on a local disk",
    errno.EOPNOTSUPP: "this file system has no locks: put the LLMC root on a local disk",
}
"""What to do about a refusal of the operating system, by its number."""


class LlmcError(Exception):
    """An expected failure: `what` happened, and the `hint` says what to do now."""

    exit_code = 1

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


class InvalidUsageError(LlmcError):
    """The command line itself does not make sense."""

    exit_code = 2


class IllegalEventError(LlmcError):
    """The worker cannot take this event in the state that it is in; nothing was changed."""


class DeclinedError(LlmcError):
    """The person was asked and did not agree: what they hear is not that something went wrong."""


def system_hint(refused: OSError) -> str:
    return SYSTEM_HINTS.get(refused.errno or 0, "run `llmc doctor`")


def system_words(refused: OSError) -> str:
    """What the operating system refuses, with the file where it names one."""
    named = isinstance(refused.filename, str | bytes | os.PathLike)
    return (f"{os.fsdecode(refused.filename)}: " if named else "") + (refused.strerror or str(refused))
