"""`llmc`: finds the command that was asked for and imports nothing else."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def entry() -> NoReturn:
    """The console script."""
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has enough; Python must not complain about it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def main(argv: Sequence[str]) -> int:
    quick = _status_words(argv)
    if quick is not None:
        return _quick_status(*quick)
    from llmc.cli.run import run

    return run(list(argv))


def _status_words(argv: Sequence[str]) -> tuple[str | None, str] | None:
    """Root and form when the words are those of a plain `status`; everything else takes the long way."""
    root, form, words = None, "", list(argv)
    if words[:1] == ["--root"] and len(words) > 2:
        root, words = words[1], words[2:]
    if not words or words.pop(0) != "status" or len(words) > 1 or not set(words) <= {"--json", "--short"}:
        return None
    return root, words[0] if words else form


def _quick_status(given: str | None, form: str) -> int:
    from llmc.commands.status import status_document, status_short, status_text
    from llmc.errors import LlmcError
    from llmc.root import find_root

    try:
        document = status_document(find_root(given, os.environ, os.getcwd()))
    except LlmcError as failure:
        from llmc.cli.failures import report

        return report(failure)
    except OSError as failure:
        from llmc.cli.failures import report_os_error

        return report_os_error(failure)
    if form == "--json":
        from llmc.cli.render import as_json

        print(as_json(document))
    else:
        print(status_short(document) if form else status_text(document))
    return 0


if __name__ == "__main__":
    entry()
