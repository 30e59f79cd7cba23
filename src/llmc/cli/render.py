"""Printing: the one place where LLMC writes to the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from llmc.cli.colour import terminal_paint
from llmc.cli.json_text import as_json
from llmc.cli.progress import ProgressLine
from llmc.commands.shared.result import Result
from llmc.core.display import plain
from llmc.core.paint import Paint
from llmc.host import terminal_columns
from llmc.host.terminal import page
from llmc.root import with_root


def show_result(result: Result, *, want_json: bool, given_root: str | None = None) -> int:
    if want_json:
        print(as_json(result.data))
    elif result.text:
        text = with_root(result.text, given_root)
        shown = text if result.coloured else plain(text)
        if not (result.pager and page(shown, result.pager)):
            print(shown)
    return result.exit_code


class ConsoleTerminal:
    """The person at the terminal; silent where a script asked for JSON."""

    def __init__(self, *, want_json: bool, assume_yes: bool = False, given_root: str | None = None) -> None:
        self.want_json = want_json
        self.assume_yes = assume_yes
        self.given_root = given_root
        self._progress = ProgressLine(wanted=not want_json)

    @property
    def is_terminal(self) -> bool:
        return sys.stdout.isatty()

    @property
    def paint(self) -> Paint:
        return terminal_paint()

    @property
    def columns(self) -> int | None:
        return terminal_columns()

    def progress(self, words: str) -> None:
        self._progress.say(words)

    def done(self) -> None:
        self._progress.clear()

    def say(self, text: str) -> None:
        self.done()
        words = plain(with_root(text, self.given_root))
        print(words, file=sys.stderr if self.want_json else sys.stdout, flush=True)

    def print(self, text: str) -> None:
        self.done()
        print(plain(text), flush=True)

    def show(self, text: str) -> None:
        if self.is_terminal:
            # Home, then each line with the rest of the old one erased, then everything below.
            lines = "".join(f"{line}\x1b[K\n" for line in with_root(text, self.given_root).split("\n"))
            sys.stdout.write(f"\x1b[H{lines}\x1b[J")
            sys.stdout.flush()
        else:
            self.say(text)

    def ring(self) -> None:
        if self.is_terminal:
            sys.stdout.write("\a")
            sys.stdout.flush()

    @property
    def can_ask(self) -> bool:
        return self.assume_yes or _somebody_is_there()

    def confirm(self, question: str) -> bool:
        return self.assume_yes or self.agrees(question)

    def agrees(self, question: str) -> bool:
        self.done()
        return _somebody_is_there() and _asked(f"{question} [y/N] ").lower() in ("y", "yes")

    def choose(self, question: str, options: Sequence[str], usual: int) -> int | None:
        if self.assume_yes or not self.can_ask:
            return usual if self.assume_yes else None
        self.done()
        lines = [question, *(f"  {number}. {option}" for number, option in enumerate(options, start=1))]
        print(plain("\n".join(lines)), file=sys.stderr)
        said = _asked(f"your choice [{usual + 1}, 0 for none] ") or str(usual + 1)
        number = int(said) if said.isdecimal() else 0
        return number - 1 if 1 <= number <= len(options) else None


def _somebody_is_there() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _asked(question: str) -> str:
    print(plain(question), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()
