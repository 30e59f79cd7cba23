"""A program that shows a dialog that no pack knows, and becomes another program when it is answered with yes.

    python asks_first.py FORM LOG -- PROGRAM [WORD...]

FORM is `plain` (options without numbers, the refusal marked), `numbered` (in a frame), `across` (side by side, one of
them in other colours) or `letters`. LOG gets a line for every key that was read. Any other answer ends it with 3.
"""

from __future__ import annotations

import os
import sys
import termios
import tty
from collections.abc import Callable

OPTIONS = ("No, leave", "Yes, go ahead", "Always go ahead")
QUESTION = "The moon is full tonight.\nDo you want to go on all the same?"
KEYS = {b"\x1b[A": -1, b"\x1b[D": -1, b"\x1b[B": 1, b"\x1b[C": 1}


def plain(marked: int) -> list[str]:
    rows = [f" {'❯' if at == marked else ' '} {words}" for at, words in enumerate(OPTIONS)]
    return [" " + line for line in QUESTION.split("\n")] + ["", *rows, "", " Enter to confirm · Esc to cancel"]


def numbered(marked: int) -> list[str]:
    rows = [f"{'●' if at == marked else ' '} {at + 1}. {words}" for at, words in enumerate(OPTIONS)]
    inside = [*QUESTION.split("\n"), "", *rows]
    return ["╭" + "─" * 50 + "╮", *(f"│ {line:<48} │" for line in inside), "╰" + "─" * 50 + "╯"]


def across(marked: int) -> list[str]:
    names = "   ".join(f"\x1b[7m{words}\x1b[27m" if at == marked else words for at, words in enumerate(OPTIONS))
    return [*QUESTION.split("\n"), "", f"  {names}      ⇆ select  enter confirm"]


def letters(marked: int) -> list[str]:
    return [*QUESTION.split("\n"), "", "[y] Yes, go ahead   [n] No, leave"]


FORMS: dict[str, Callable[[int], list[str]]] = {
    "plain": plain,
    "numbered": numbered,
    "across": across,
    "letters": letters,
}


def ask(form: str, log: str) -> str:
    """The words of the option that was taken; empty for Escape."""
    marked = 0
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        while True:
            os.write(1, ("\x1b[2J\x1b[H" + "\r\n".join(FORMS[form](marked)) + "\r\n").encode())
            key = os.read(0, 16)
            with open(log, "a", encoding="utf-8") as file:
                file.write(f"{key!r}\n")
            if form == "letters" and key in (b"y", b"n"):
                return "Yes, go ahead" if key == b"y" else "No, leave"
            if key == b"\r" and form != "letters":
                return OPTIONS[marked]
            if key == b"\x1b":
                return ""
            marked = min(max(marked + KEYS.get(key, 0), 0), len(OPTIONS) - 1)
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def main() -> None:
    form, log, _, *program = sys.argv[1:]
    if ask(form, log) != "Yes, go ahead":
        sys.exit(3)
    os.write(1, b"\x1b[2J\x1b[H")
    os.execvp(program[0], program)


if __name__ == "__main__":
    main()
