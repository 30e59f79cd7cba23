"""The real terminal: raw mode, size, bytes in, pictures out."""

from __future__ import annotations

import os
import termios
import tty
from contextlib import suppress

from llmc.demo.requests import Tone
from llmc.demo.screen import Picture, ScreenRow

_IN, _OUT = 0, 1
_CHUNK = 65536
# Alternate screen, bracketed paste, no wrapping: a character of unexpected width then harms its own row only.
_ENTER = "\x1b[?1049h\x1b[?2004h\x1b[?7l\x1b[2J"
_LEAVE = "\x1b[0m\x1b[?7h\x1b[?2004l\x1b[?25h\x1b[?1049l"
_COLOURS = {Tone.PLAIN: "", Tone.DIM: "\x1b[2m", Tone.BOLD: "\x1b[1m", Tone.ERROR: "\x1b[31m", Tone.BUSY: "\x1b[36m"}


def is_terminal() -> bool:
    return os.isatty(_IN) and os.isatty(_OUT)


class DemoTerminal:
    """Draws only what has changed since the last picture."""

    fd = _IN

    def __init__(self) -> None:
        self._before = termios.tcgetattr(_IN)
        self._drawn: Picture | None = None
        self._size = (0, 0)

    def open(self) -> None:
        # Not the default, which would throw away what was typed before we were ready.
        tty.setraw(_IN, termios.TCSADRAIN)
        _write(_ENTER)

    def close(self, last_words: str = "") -> None:
        """The terminal itself may be gone by now.

        Last words go to the bottom: tmux scrolls the first line away when it says that the pane is dead.
        """
        with suppress(OSError, termios.error):
            _write(_LEAVE + (f"\x1b[{self.size()[1]};1H{last_words}\r\n" if last_words else ""))
            termios.tcsetattr(_IN, termios.TCSADRAIN, self._before)

    def read(self) -> bytes:
        """Nothing when the terminal is gone."""
        try:
            return os.read(_IN, _CHUNK)
        except OSError:
            return b""

    @staticmethod
    def size() -> tuple[int, int]:
        """Columns and rows; a terminal that was never given a size says 0."""
        columns, rows = os.get_terminal_size(_OUT)
        return columns or 80, rows or 24

    def draw(self, picture: Picture) -> None:
        size = self.size()
        resized, self._size = size != self._size, size
        if picture == self._drawn and not resized:
            return
        before = None if resized else self._drawn
        self._drawn = picture
        _write(("\x1b[2J" if resized else "") + _changes(before, picture))


def _changes(before: Picture | None, now: Picture) -> str:
    old = before.rows if before and len(before.rows) == len(now.rows) else (None,) * len(now.rows)
    rows = (_placed(at, row) for at, (row, was) in enumerate(zip(now.rows, old, strict=True)) if row != was)
    named = "" if before and before.title == now.title else f"\x1b]2;{now.title}\x07"
    line, column = now.cursor
    return f"\x1b[?25l{''.join(rows)}{named}\x1b[{line + 1};{column + 1}H\x1b[?25h"


def _placed(at: int, row: ScreenRow) -> str:
    return f"\x1b[{at + 1};1H\x1b[2K{_COLOURS[row.tone]}{row.text}\x1b[0m"


def _write(text: str) -> None:
    data = memoryview(text.encode("utf-8", "replace"))
    while data:
        data = data[os.write(_OUT, data) :]
