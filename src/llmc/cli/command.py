"""What is told of a command: its words, its examples, its exit codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FAILS = ("1 it was refused or failed; the error says what to do",)


@dataclass(frozen=True)
class Word:
    names: tuple[str, ...]
    options: dict[str, Any]


@dataclass(frozen=True)
class Command:
    name: str
    summary: str
    examples: tuple[str, ...]
    words: tuple[Word, ...] = ()
    answers: bool = True
    """Whether there is something to say as JSON."""
    parts: tuple[Command, ...] = ()
    """The commands of a group: `llmc pty classify`."""
    about: str = ""
    """What the summary leaves open."""
    codes: tuple[str, ...] = FAILS
    """What its exit codes mean, besides those that they always mean."""


def word(*names: str, **options: Any) -> Word:  # noqa: ANN401 - handed to argparse as it is
    return Word(names, options)


def flag(*names: str, text: str) -> Word:
    return Word(names, {"action": "store_true", "help": text})


FOLLOW = flag("--follow", "-f", text="go on as more comes")
