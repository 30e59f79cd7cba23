"""What went wrong, told to a person: error, hint, exit code."""

from __future__ import annotations

import os
import sys

from llmc.core.display import plain
from llmc.errors import DeclinedError, LlmcError, system_hint, system_words
from llmc.root import with_root

BUG = 3
INTERRUPTED = 130


def tell(failure: BaseException, given_root: str | None = None) -> int:
    """The one place that knows what each kind of failure means for the person. The exit code."""
    match failure:
        case LlmcError():
            return _report(failure, given_root)
        case BrokenPipeError():
            return 0  # whoever read us has enough
        case OSError():
            return _report(LlmcError(system_words(failure), system_hint(failure)), given_root)
        case KeyboardInterrupt():
            _say("interrupted")
            return INTERRUPTED
        case SystemExit():
            return failure.code if isinstance(failure.code, int) else 0
    return _report_bug(failure)


def _report(failure: LlmcError, given_root: str | None) -> int:
    _say(f"{'' if isinstance(failure, DeclinedError) else 'error: '}{plain(failure.what)}")
    if failure.hint:
        _say(f"hint: {plain(with_root(failure.hint, given_root))}")
    return failure.exit_code


def _report_bug(failure: BaseException) -> int:
    """Leaves a log that can be pasted into a report."""
    import time
    import traceback

    text = "".join(traceback.format_exception(failure))
    command = os.path.basename(sys.argv[0] or "llmc")
    head = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {command} Python {sys.version.split()[0]}\n"
    try:
        where = f"the content of {_write_log(head + text)}"
    except OSError:
        _say(plain(head + text))
        where = "the lines above"
    _say(f"error: this is a bug in LLMC: {type(failure).__name__}: {plain(str(failure))}")
    _say(f"hint: please report it with {where}")
    return BUG


def _write_log(text: str) -> str:
    import tempfile

    fd, path = tempfile.mkstemp(prefix="llmc-bug-", suffix=".log")
    with os.fdopen(fd, "w", encoding="utf-8", errors="replace") as log:
        log.write(text)
    return path


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
