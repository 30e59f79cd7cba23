"""The field where a prompt is written: keys in, draft and submissions out."""

from __future__ import annotations

from typing import NamedTuple

from llmc.demo.keys import Key, Pasted, Press, Typed
from llmc.demo.text import lines_of

_FOLD_LINES = 10
_FOLD_CHARACTERS = 1000


class Piece(NamedTuple):
    """Text that came in one way. A long paste has a number and is shown folded."""

    text: str
    pasted: bool = False
    number: int | None = None

    @property
    def shown(self) -> str:
        if self.number is None:
            return self.text
        more = len(lines_of(self.text)) - 1
        return f"[Pasted text #{self.number} +{more} lines]" if more else f"[Pasted text #{self.number}]"


class Submission(NamedTuple):
    text: str
    shown: str
    typed: bool
    """Typed by hand as a whole: only then can it be a slash command."""


class Composer:
    """Holds the draft. The cursor is always at its end."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self._folded = 0

    @property
    def shown(self) -> str:
        return "".join(piece.shown for piece in self._pieces)

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self._pieces)

    @property
    def empty(self) -> bool:
        return not self._pieces

    def take(self, key: Key) -> Submission | None:
        match key:
            case Typed(text):
                self._type(text)
            case Pasted(text):
                self._paste(text)
            case Press.ENTER:
                return self._submit()
            case Press.NEWLINE:
                self._type("\n")
            case Press.BACKSPACE:
                self._backspace()
            case Press.CLEAR_LINE:
                self._clear_line()
        return None

    def clear(self) -> None:
        self._pieces = []

    def _type(self, text: str) -> None:
        if self._pieces and not self._pieces[-1].pasted:
            text = self._pieces.pop().text + text
        self._pieces.append(Piece(text))

    def _paste(self, text: str) -> None:
        if len(text) > _FOLD_CHARACTERS or len(lines_of(text)) > _FOLD_LINES:
            self._folded += 1
            self._pieces.append(Piece(text, True, self._folded))
        elif text:
            self._pieces.append(Piece(text, True))

    def _submit(self) -> Submission | None:
        text = self.text
        if not text.strip():
            return None
        submission = Submission(text, self.shown, not any(piece.pasted for piece in self._pieces))
        self.clear()
        return submission

    def _backspace(self) -> None:
        if self._pieces:
            last = self._pieces.pop()
            self._keep(last, "" if last.number is not None else last.text[:-1])

    def _clear_line(self) -> None:
        """Clears back to the line's beginning; on an empty line, takes back the newline before it."""
        if self.shown.endswith("\n"):
            self._backspace()
            return
        while self._pieces:
            last = self._pieces.pop()
            if last.number is None and "\n" in last.text:
                self._keep(last, last.text[: last.text.rindex("\n") + 1])
                return

    def _keep(self, piece: Piece, text: str) -> None:
        if text:
            self._pieces.append(Piece(text, piece.pasted))
