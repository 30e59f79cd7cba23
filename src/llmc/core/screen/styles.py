"""Colours and attributes of what is on the screen, from the text that `tmux capture-pane -e` gives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmc.core.screen.screen import ESCAPES

STYLES = ("bold", "dim", "italic", "underline", "reverse", "red", "green", "yellow", "blue", "magenta", "cyan")
ATTRIBUTES = {"bold": 1, "dim": 2, "italic": 3, "underline": 4, "reverse": 7}
COLOURS = {
    code: name
    for number, name in enumerate(("red", "green", "yellow", "blue", "magenta", "cyan"), 1)
    for code in (f"3{number}", f"5;{number}")
}
"""By the ways to choose one: alone, and as the first of the larger palette."""
SELECTION = re.compile(r"\x1b\[([\d;]*)m")
Look = tuple[str, str, frozenset[int]]
"""What one cell looks like: its colour, the colour behind it, and its attributes."""
PLAIN: Look = ("", "", frozenset())


def has_style(line: str, start: int, end: int, style: str) -> bool:
    """Whether everything in this part of the line, as it is without its colours, has the style."""
    cells = [look for at, (character, look) in enumerate(_cells(line)) if start <= at < end and character.strip()]
    return bool(cells) and all(COLOURS.get(look[0]) == style or ATTRIBUTES.get(style) in look[2] for look in cells)


def looks(styled: str) -> list[list[Look]]:
    """Of every cell of every line. What tmux says of one line holds for the next until it says otherwise."""
    lines: list[list[Look]] = [[]]
    for character, look in _cells(styled):
        if character == "\n":
            lines.append([])
        else:
            lines[-1].append(look)
    return lines


def _cells(text: str) -> Iterator[tuple[str, Look]]:
    look, at = PLAIN, 0
    while at < len(text):
        escape = ESCAPES.match(text, at)
        if escape is None:
            yield text[at], look
            at += 1
            continue
        selection = SELECTION.fullmatch(escape.group())
        look = _look_after(look, selection.group(1)) if selection else look
        at = escape.end()


def _look_after(look: Look, codes: str) -> Look:
    numbers = [int(code or 0) for code in codes.split(";")]
    colour, behind, attributes = look
    at = 0
    while at < len(numbers):
        code = numbers[at]
        wide = 0
        if code == 0:
            colour, behind, attributes = PLAIN
        elif code in (38, 48):
            wide = 4 if numbers[at + 1 : at + 2] == [2] else 2  # 38;2;R;G;B or 38;5;N
            named = ";".join(map(str, numbers[at + 1 : at + 1 + wide]))
            colour, behind = (named, behind) if code == 38 else (colour, named)
        elif 30 <= code <= 39 or 90 <= code <= 97:
            colour = "" if code == 39 else str(code)
        elif 40 <= code <= 49 or 100 <= code <= 107:
            behind = "" if code == 49 else str(code)
        else:
            ended = {22: {1, 2}, 23: {3}, 24: {4}, 25: {5}, 27: {7}, 28: {8}, 29: {9}}.get(code)
            attributes = attributes - ended if ended else attributes | {code}
        at += 1 + wide
    return colour, behind, attributes
