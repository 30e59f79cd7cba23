"""`llmc`: finds the command that was asked for and imports nothing else."""

from __future__ import annotations

import gc
import io
import os
import sys

from llmc import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from llmc.root import Root


def entry() -> NoReturn:
    """The console script."""
    gc.disable()  # a start leaves no garbage, and looking for it would take a tenth of the time: `run` enables it
    _prepare_streams()
    code = 0
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except OSError as unwritten:
        _stop_writing()
        code = code or _tell(OSError(unwritten.errno, unwritten.strerror, "standard output"))
    except KeyboardInterrupt as stopped:
        code = _tell(stopped)
    sys.exit(code)


def main(argv: Sequence[str]) -> int:
    try:
        answer = _quick_answer(argv)
    except Exception:
        answer = None  # the long way says what is wrong
    if answer is not None:
        print(answer)
        return 0
    from llmc.cli.run import run

    return run(list(argv))


def _prepare_streams() -> None:
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Its number must not go to the next file that is opened.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for good
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal without Unicode gets escapes, and so do names that are no text at all.
        sys.stdout.reconfigure(errors="backslashreplace")


def _stop_writing() -> None:
    """Python would try it again at exit, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell(failure: BaseException) -> int:
    from llmc.cli.failures import tell

    return tell(failure)


def _quick_answer(argv: Sequence[str]) -> str | None:
    """What a plain `status`, `pty status` or `--version` says; None for all other words."""
    if list(argv) == ["--version"]:
        return f"llmc {__version__}"
    words = _status_words(argv)
    if words is None:
        return _quick_pty_answer(argv)
    from llmc.commands.status import status_document
    from llmc.roots import find_root, here

    given, form = words
    root = find_root(given, os.environ, here())
    document = status_document(root)
    if document["machines"] and not document["daemon"]["running"] and form != "--short":
        return None  # nobody listens to the machines: they are asked
    _warn_of_settings(root, given)
    if not (given or os.environ.get("LLMC_ROOT")):
        _warn_of_another(root)
    if form == "--json":
        from llmc.cli.json_text import as_json

        return as_json(document)
    from llmc.commands.shared.status_view import status_short, status_text

    if form:
        return status_short(document)
    from llmc.cli.colour import terminal_paint
    from llmc.host import terminal_columns
    from llmc.root import with_root

    return with_root(status_text(document, terminal_columns(), terminal_paint()), given)


def _warn_of_settings(root: Root, given: str | None) -> None:
    """What is shown is true all the same."""
    from llmc.commands.shared.settings_check import settings_problem

    problem = settings_problem(root)
    if problem is not None:
        from llmc.cli.failures import tell

        tell(problem, given)


def _warn_of_another(root: Root) -> None:
    from llmc.roots import foreign_source, here

    source = foreign_source(root, here())
    if source is not None:
        sys.stderr.write(f"note: the repository around you has no root; this is that of {source}\n")


def _quick_pty_answer(argv: Sequence[str]) -> str | None:
    words = _status_words([word for word in argv if word != "pty"]) if "pty" in argv[:3] else None
    if words is None or words[1] == "--json":
        return None
    from llmc.commands.pty_status import pty_document, pty_short, pty_text
    from llmc.core.display import plain
    from llmc.roots import find_terminals_root, here

    given, form = words
    document = pty_document(find_terminals_root(given, os.environ, here()))
    return plain(pty_short(document) if form else pty_text(document))


def _status_words(argv: Sequence[str]) -> tuple[str | None, str] | None:
    """Root and form when the words are those of a plain `status`; everything else takes the long way."""
    root, words = None, list(argv)
    if words[:1] == ["--root"] and len(words) > 2 and words[1]:
        root, words = words[1], words[2:]
    if not words or words.pop(0) != "status" or len(words) > 1 or not set(words) <= {"--json", "--short"}:
        return None
    return root, words[0] if words else ""


if __name__ == "__main__":
    entry()
