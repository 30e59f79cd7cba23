"""What is told of a command: its words, its examples, its exit codes."""

from __future__ import annotations

from llmc.cli.arguments import some_lines, some_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FAILS = ("1 refused or failed; the error says what to do",)


class Word:
    """Not a dataclass, and neither is a command: `dataclasses` would take longer to load than the whole table."""

    __slots__ = ("names", "options")

    def __init__(self, names: tuple[str, ...], options: dict[str, Any]) -> None:
        self.names = names
        self.options = options


class Command:
    __slots__ = (
        "about",
        "answers",
        "codes",
        "examples",
        "guests",
        "hidden",
        "home",
        "looks",
        "name",
        "parts",
        "summary",
        "usual_part",
        "words",
    )

    def __init__(
        self,
        name: str,
        summary: str,
        examples: tuple[str, ...],
        words: tuple[Word, ...] = (),
        *,
        answers: bool = True,
        parts: Callable[[], tuple[Command, ...]] | None = None,
        about: str = "",
        codes: tuple[str, ...] = FAILS,
        looks: bool = False,
        usual_part: str = "",
        home: str = "",
        guests: dict[str, str] | None = None,
        hidden: bool = False,
    ) -> None:
        """`answers`: whether there is something to say as JSON. `about`: what the summary leaves open.
        `codes`: what its exit codes mean, besides those that they always mean. `looks`: it changes nothing in a root
        that was not named. `home`: the module that runs it, where that is none of `commands/`.
        `guests`: modules of other faces that it serves as well, by their address. `hidden`: programs type it, and no
        person."""
        self.name = name
        self.summary = summary
        self.examples = examples
        self.words = words
        self.answers = answers
        self.about = about
        self.codes = codes
        self.looks = looks
        self.home = home
        self.guests = guests
        self.hidden = hidden
        self.parts = parts
        """The commands of a group: `llmc pty classify`."""
        self.usual_part = usual_part
        """The one that is meant where none is named."""


def word(*names: str, **options: Any) -> Word:  # noqa: ANN401 - handed to argparse as it is
    return Word(names, options)


def flag(*names: str, text: str) -> Word:
    return Word(names, {"action": "store_true", "help": text})


def value(name: str, stands_for: str, takes: Callable[[str], object], text: str, **more: Any) -> Word:  # noqa: ANN401
    """A word that stands for something else, or an option that has one behind it."""
    return Word((name,), {"metavar": stands_for, "type": takes, "help": text, **more})


def lines(usual: int, stands_for: str = "N") -> Word:
    text = f"how many (default {usual})"
    return Word(("-n", "--lines"), {"metavar": stands_for, "type": some_lines, "default": usual, "help": text})


WORKER = value("worker", "WORKER", some_name, "the worker's name")
FOLLOW = flag("--follow", "-f", text="keep showing new entries")
