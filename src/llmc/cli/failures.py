"""What went wrong, told to a person: error, hint, exit code."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import time
import traceback

from llmc.core.display import plain
from llmc.errors import LlmcError

BUG = 3
INTERRUPTED = 130

OS_HINTS = {
    errno.ENOSPC: "free some space on that disk and try again; nothing was changed",
    errno.EDQUOT: "your disk quota is used up: free some space and try again",
    errno.EROFS: "the file system is read-only: use a root that can be written to",
    errno.EACCES: "check who owns it and its permissions",
    errno.EPERM: "check who owns it and its permissions",
    errno.ENAMETOOLONG: "use a shorter name",
    errno.EMFILE: "too many files are open: raise the limit with `ulimit -n`",
}


def report(failure: LlmcError) -> int:
    _say(f"error: {plain(failure.what)}")
    if failure.hint:
        _say(f"hint: {plain(failure.hint)}")
    return failure.exit_code


def report_os_error(failure: OSError) -> int:
    where = f"{os.fsdecode(failure.filename)}: " if failure.filename else ""
    what = failure.strerror or str(failure)
    hint = OS_HINTS.get(failure.errno or 0, "`llmc doctor` looks for the cause")
    return report(LlmcError(where + what, hint))


def report_interrupt() -> int:
    _say("interrupted")
    return INTERRUPTED


def report_bug(failure: BaseException) -> int:
    """Leaves a log that can be pasted into a report."""
    text = "".join(traceback.format_exception(failure))
    command = os.path.basename(sys.argv[0] or "llmc")
    head = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {command} Python {sys.version.split()[0]}\n"
    fd, path = tempfile.mkstemp(prefix="llmc-bug-", suffix=".log")
    with os.fdopen(fd, "w", encoding="utf-8", errors="replace") as log:
        log.write(head + text)
    _say(f"error: this is a bug in LLMC: {type(failure).__name__}: {plain(str(failure))}")
    _say(f"hint: please report it with the content of {path}")
    return BUG


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
