"""Which keys answer an open dialog."""

from __future__ import annotations

from dataclasses import dataclass

from llmc.core.classify import Cue
from llmc.errors import LlmcError

YES = frozenset(("yes", "y", "allow", "ok"))
NO = frozenset(("no", "n", "deny", "cancel"))


@dataclass(frozen=True, slots=True)
class Typing:
    """Keys to press, then text to type and submit, if any."""

    keys: tuple[str, ...]
    text: str = ""


def typing_for(dialog: Cue, choice: str) -> Typing:
    """Raises when this dialog cannot be answered in that way: nothing is pressed on a guess."""
    word = choice.strip().lower()
    answers = dialog.answers
    if word in YES and "yes" in answers:
        return Typing(answers["yes"])
    if word in NO and "no" in answers:
        return Typing(answers["no"])
    if word.isdecimal() and "number" in answers:
        return Typing(tuple(key.replace("{n}", word) for key in answers["number"]))
    if choice.strip() and "text" in answers:
        return Typing(answers["text"], choice)
    ways = ", ".join({"number": "a number", "text": "your own text"}.get(way, way) for way in answers)
    raise LlmcError(
        f"the open dialog ({dialog.name}) cannot be answered with {choice!r}",
        f"it takes: {ways}" if ways else "answer it in the terminal itself: `llmc attach`",
    )
