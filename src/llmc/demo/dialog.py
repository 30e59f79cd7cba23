"""The boxes that ask a person: what they show, and what a key does to them."""

from __future__ import annotations

from typing import NamedTuple

from llmc.demo.composer import Composer
from llmc.demo.keys import Key, Press, Typed

YES = "yes"
NO = "no"


class Asking(NamedTuple):
    """What to ask. `detail` is shown above the question."""

    question: str
    detail: tuple[str, ...] = ()
    letters: bool = False
    """Whether y and n answer too."""
    free_text: bool = False
    """Whether an answer can be typed, as the last option."""


class Answer(NamedTuple):
    """What was chosen: YES, NO, or text that was typed."""

    choice: str
    typed: bool = False


class DemoDialog:
    """An open box. A paste reaches it only while an answer is being typed."""

    def __init__(self, asking: Asking) -> None:
        self.asking = asking
        self.selected = 0
        self.field: Composer | None = None

    @property
    def options(self) -> tuple[str, ...]:
        return ("Yes", "No", "Type an answer") if self.asking.free_text else ("Yes", "No")

    def take(self, key: Key) -> Answer | None:
        if self.field is not None:
            return self._take_in_field(key, self.field)
        match key:
            case Press.UP:
                self.selected = max(0, self.selected - 1)
            case Press.DOWN:
                self.selected = min(len(self.options) - 1, self.selected + 1)
            case Press.ENTER:
                return self._choose(self.selected)
            case Typed(character):
                return self._take_character(character)
        return None

    def _take_character(self, character: str) -> Answer | None:
        shortcuts = [str(number + 1) for number in range(len(self.options))]
        if character in shortcuts:
            return self._choose(shortcuts.index(character))
        if self.asking.letters and character.lower() in ("y", "n"):
            return self._choose("yn".index(character.lower()))
        return None

    def _choose(self, option: int) -> Answer | None:
        self.selected = option
        if option == 2:
            self.field = Composer()
            return None
        return Answer(YES if option == 0 else NO)

    def _take_in_field(self, key: Key, field: Composer) -> Answer | None:
        if key is Press.UP:
            self.field = None
            self.selected -= 1
            return None
        submission = field.take(key)
        return Answer(submission.text, typed=True) if submission else None
