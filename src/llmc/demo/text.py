"""Text as a terminal sees it: lines, cells, and nothing that a terminal would act on."""

from __future__ import annotations

import re
import unicodedata

# A carriage return ends a line too: terminals paste one for a newline.
_LINE_END = re.compile(r"\r\n|\r|\n")
_TAB = "    "


def lines_of(text: str) -> list[str]:
    return _LINE_END.split(text)


def harmless(text: str) -> str:
    """One line with every control character made visible or blank."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_harmless_character, text))


def cells(text: str) -> int:
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def cut(text: str, width: int) -> str:
    """As much of the line as fits into `width` cells."""
    return wrap(text, width)[0]


def wrap(text: str, width: int) -> list[str]:
    """The line as rows of at most `width` cells; a character that never fits becomes a question mark."""
    if text.isascii():
        return [text[at : at + width] for at in range(0, len(text), width)] or [""]
    rows, row, used = [], "", 0
    for character in text:
        size = _cells_of(character)
        shown, size = ("?", 1) if size > width else (character, size)
        if used + size > width:
            rows.append(row)
            row, used = "", 0
        row += shown
        used += size
    return [*rows, row]


def _harmless_character(character: str) -> str:
    if character == "\t":
        return _TAB
    return "·" if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") else character


def _cells_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
