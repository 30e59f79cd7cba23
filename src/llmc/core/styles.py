"""Colours and attributes of what is on the screen, from the text that `tmux capture-pane -e` gives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmc.core.screen import ESCAPES

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
