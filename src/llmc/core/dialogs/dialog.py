"""A dialog on a screen, as a value: what is asked, what there is to choose, and where the mark stands."""

from __future__ import annotations

import hashlib
import re
from dataclasses import field
from typing import Any

from llmc.core.display import one_line, plain
from llmc.values import Value

CLOCK = re.compile(r"(?i)\((?:\d+ ?m(?:in)? ?)?\d+ ?s(?:ec(?:onds?)?)?\)|\bin \d+ ?s(?:ec(?:onds?)?)?\b")
"""What counts the seconds of a dialog: `(12s)`, `in 30 seconds`."""

LONGEST_ASKED = 4000
LONGEST_OPTION = 300


class Option(Value):
    words: str
    number: int | None = None
    """As the dialog itself shows it."""
    about: str = ""
    """What stands below or beside it."""
    key: str = ""
    """What takes it at once, where the dialog names it: `[y] Approve`, `Enter to continue`."""


class Dialog(Value):
    question: str
    options: tuple[Option, ...] = ()
    marked: int | None = None
    """Which option an Enter would take; None when that cannot be seen."""
    across: bool = False
    """The options stand side by side: Left and Right move the mark, and not Up and Down."""
    dismiss: str = ""
    """The key that leaves it without an answer, where it says so."""
    typed: bool = False
    """An answer is typed, and ends with an Enter."""
    lines: range = field(default=range(0), compare=False)
    """Where on the screen its options are."""

    @property
    def id(self) -> str:
        """The same for as long as the same thing is asked, wherever lines are broken and the mark stands."""
        said = "\0".join((self.asks, *(bare(option.words) for option in self.options)))
        return hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=4).hexdigest()

    @property
    def asks(self) -> str:
        """The letters of its question, at whatever second."""
        return bare(CLOCK.sub("", self.question))

    def number_of(self, at: int) -> int:
        """What a person calls this option."""
        number = self.options[at].number
        return at + 1 if number is None else number

    @property
    def listed(self) -> str:
        """Its options in a line."""
        return "; ".join(f"{self.number_of(at)} {option.words}" for at, option in enumerate(self.options))


def bare(text: str) -> str:
    """Letters and digits alone: what is left of a text however its lines are broken."""
    return "".join(character for character in text.casefold() if character.isalnum())


def is_same(one: Dialog, other: Dialog) -> bool:
    """Whether this is the dialog that was seen before: some show more of an option once the mark stands on it."""
    if one.id == other.id:
        return True
    words = {bare(option.words) for option in one.options}
    shared = sum(bare(option.words) in words for option in other.options)
    return one.asks == other.asks and bool(shared) and shared * 2 >= max(len(one.options), len(other.options))


def said_in_a_line(dialog: Dialog) -> str:
    """What it asks, by its last words, and what there is to choose."""
    question = dialog.question.rpartition("\n")[2]
    return f"{question} ({dialog.listed})" if dialog.options else question


def as_json(dialog: Dialog) -> dict[str, Any]:
    """As scripts and faces read it."""
    options = [one_line(option.words, LONGEST_OPTION) for option in dialog.options]
    return {"id": dialog.id, "text": plain(dialog.question)[-LONGEST_ASKED:], "options": options}
