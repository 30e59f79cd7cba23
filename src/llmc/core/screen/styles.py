"""Colours and attributes of what is on the screen, from the text that `tmux capture-pane -e` gives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmc.core.screen.screen import ESCAPES

STYLES = ("bold", "dim", "italic", "underline", "reverse", "red", "green", "yellow", "blue", "magenta", "cyan")
ATTRIBUTES = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse"}
COLOURS = dict(enumerate(("red", "green", "yellow", "blue", "magenta", "cyan"), 31))
ENDED_BY = {22: {"bold", "dim"}, 23: {"italic"}, 24: {"underline"}, 27: {"reverse"}, 39: set(COLOURS.values())}
SELECTION = re.compile(r"\x1b\[([\d;]*)m")


def has_style(line: str, start: int, end: int, style: str) -> bool:
    """Whether everything in this part of the line, as it is without its colours, has the style."""
    cells = [styles for at, (character, styles) in enumerate(_cells(line)) if start <= at < end and character.strip()]
    return bool(cells) and all(style in styles for styles in cells)


def _cells(line: str) -> Iterator[tuple[str, frozenset[str]]]:
    styles: frozenset[str] = frozenset()
    at = 0
    while at < len(line):
        escape = ESCAPES.match(line, at)
        if escape is None:
            yield line[at], styles
            at += 1
            continue
        selection = SELECTION.fullmatch(escape.group())
        styles = _after(styles, selection.group(1)) if selection else styles
        at = escape.end()


def _after(styles: frozenset[str], codes: str) -> frozenset[str]:
    numbers = [int(code or 0) for code in codes.split(";")]
    at = 0
    while at < len(numbers):
        code = numbers[at]
        styles = _with(styles, code, numbers[at + 1 : at + 3])
        wide = 4 if numbers[at + 1 : at + 2] == [2] else 2
        at += 1 + (wide if code in (38, 48) else 0)  # a colour of a larger palette: 38;5;N or 38;2;R;G;B
    return styles


def _with(styles: frozenset[str], code: int, following: list[int]) -> frozenset[str]:
    if code == 0:
        return frozenset()
    if code == 38:
        colour = COLOURS.get(30 + following[1]) if following[:1] == [5] and len(following) > 1 else None
        return styles - ENDED_BY[39] | ({colour} if colour else set())
    if code in COLOURS:
        return styles - ENDED_BY[39] | {COLOURS[code]}
    return (styles | {ATTRIBUTES[code]}) if code in ATTRIBUTES else styles - ENDED_BY.get(code, set())


Look = tuple[str, str, frozenset[int]]
"""What one cell looks like: its colour, the colour behind it, and its attributes."""
PLAIN: Look = ("", "", frozenset())


def looks(styled: str) -> list[list[Look]]:
    """Of every cell of every line. What tmux says of one line holds for the next until it says otherwise."""
    lines, look = [], PLAIN
    for line in styled.split("\n"):
        cells: list[Look] = []
        at = 0
        while at < len(line):
            escape = ESCAPES.match(line, at)
            if escape is None:
                cells.append(look)
                at += 1
                continue
            selection = SELECTION.fullmatch(escape.group())
            look = _look_after(look, selection.group(1)) if selection else look
            at = escape.end()
        lines.append(cells)
    return lines


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
            wide = 4 if numbers[at + 1 : at + 2] == [2] else 2
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
