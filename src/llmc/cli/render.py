"""Printing: the one place where LLMC writes to the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from llmc.cli.json_text import as_json
from llmc.commands.shared.result import Result
from llmc.core.display import plain
from llmc.host import terminal_columns


def show_result(result: Result, *, want_json: bool) -> int:
    if want_json:
        print(as_json(result.data))
    elif result.text:
        print(result.text if result.coloured else plain(result.text))
    return result.exit_code


class ConsoleTerminal:
    """The person at the terminal; silent where a script asked for JSON."""

    def __init__(self, *, want_json: bool, assume_yes: bool = False) -> None:
        self.want_json = want_json
        self.assume_yes = assume_yes

    @property
    def is_terminal(self) -> bool:
        return sys.stdout.isatty()

    @property
    def columns(self) -> int | None:
        return terminal_columns()

    def say(self, text: str) -> None:
        print(plain(text), file=sys.stderr if self.want_json else sys.stdout, flush=True)

    def print(self, text: str) -> None:
        print(plain(text), flush=True)

    def show(self, text: str) -> None:
        if self.is_terminal:
            # Home, then each line with the rest of the old one erased, then everything below.
            lines = "".join(f"{line}\x1b[K\n" for line in plain(text).splitlines())
            sys.stdout.write(f"\x1b[H{lines}\x1b[J")
            sys.stdout.flush()
        else:
            self.say(text)

    @property
    def can_ask(self) -> bool:
        return self.assume_yes or (sys.stdin.isatty() and sys.stderr.isatty())

    def confirm(self, question: str) -> bool:
        if self.assume_yes or not self.can_ask:
            return self.assume_yes
        return _asked(f"{question} [y/N] ").lower() in ("y", "yes")

    def choose(self, question: str, options: Sequence[str], usual: int) -> int | None:
        if self.assume_yes or not self.can_ask:
            return usual if self.assume_yes else None
        lines = [question, *(f"  {number}. {option}" for number, option in enumerate(options, start=1))]
        print(plain("\n".join(lines)), file=sys.stderr)
        said = _asked(f"your choice [{usual + 1}, 0 for none] ") or str(usual + 1)
        number = int(said) if said.isdecimal() else 0
        return number - 1 if 1 <= number <= len(options) else None


def _asked(question: str) -> str:
    print(plain(question), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()
