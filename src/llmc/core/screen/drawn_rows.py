"""Rows as `capture-pane -e` prints them, each made to stand alone: text and colours, nothing else.

tmux goes on with the colours of the row before, which whoever draws a single row would not know. Lines drawn with the
alternate character set come as letters between two control characters, and 3.4 and later print links.
"""

from __future__ import annotations

import re

_PART = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\][^\x1b\x07]*(?:\x1b\\|\x07)|\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x1f\x7f-\x9f]")
_LINES = str.maketrans("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")
_FOREGROUND = frozenset((*map(str, range(30, 40)), *map(str, range(90, 98))))
_BACKGROUND = frozenset((*map(str, range(40, 50)), *map(str, range(100, 108))))
_UNDERLINE = frozenset(("58", "59"))


def drawn_rows(screen: str) -> tuple[str, ...]:
    pen = _Pen()
    return tuple(map(pen.row, screen.split("\n")))


class _Pen:
    """The colours and the character set that are on at the end of the last row."""

    def __init__(self) -> None:
        self._colours: dict[str, str] = {}
        self._draws_lines = False

    def row(self, row: str) -> str:
        if row.isprintable() and not self._draws_lines:
            return "".join(self._colours.values()) + row if row else ""
        begin = "".join(self._colours.values())
        drawn: list[str] = []
        at = 0
        for part in _PART.finditer(row):
            drawn.append(self._text(row[at : part.start()]))
            at = part.end()
            if part[0] in "\x0e\x0f":
                self._draws_lines = part[0] == "\x0e"
            elif part[1] is not None:
                self._take(part[0], part[1])
                drawn.append(part[0])
        drawn.append(self._text(row[at:]))
        return begin + "".join(drawn)

    def _text(self, text: str) -> str:
        return text.translate(_LINES) if self._draws_lines else text

    def _take(self, sequence: str, words: str) -> None:
        first, _, rest = words.replace(":", ";").partition(";")
        if first in ("", "0"):
            self._colours.clear()
            if rest:
                self._colours["style"] = sequence
            return
        for name, codes in (("foreground", _FOREGROUND), ("background", _BACKGROUND), ("underline", _UNDERLINE)):
            if first in codes:
                self._colours[name] = "" if first in ("39", "49", "59") else sequence
                return
        self._colours["style"] = self._colours.get("style", "") + sequence
