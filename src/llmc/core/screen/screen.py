"""What a terminal shows, as a value, and the places on it that cues look at."""

from __future__ import annotations

import re
import unicodedata

from llmc.values import Value

MOST_LINES = 400
"""What stands higher up is history. No terminal is that tall."""
LONGEST_LINE = 600
"""Patterns see so much of a line: what one of them may cost depends upon it."""

ESCAPES = re.compile(r"\x1b(?:\[[0-?]{0,60}[ -/]{0,9}[@-~]|\][^\x07\x1b]{0,4000}(?:\x07|\x1b\\)|[ -/]{0,9}[0-Z\\^-~])")


class Screen(Value):
    text: str
    title: str = ""
    command: str = ""
    """The process in the foreground."""
    cursor: tuple[int, int] | None = None
    """Column and row, from 0."""
    alternate: bool | None = None
    """Whether the program draws upon the alternate screen."""
    styled: str | None = None
    """The text with its colours, as `tmux capture-pane -e` gives it."""


def screen_of(captured: str, *, title: str = "", command: str = "", cursor: tuple[int, int] | None = None) -> Screen:
    """A screen from what was captured, with or without colours."""
    if "\x1b" not in captured:
        return Screen(captured, title, command, cursor)
    return Screen(plain(captured), title, command, cursor, styled=captured)


def plain(captured: str) -> str:
    return ESCAPES.sub("", captured)


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of the screen, without what is blank at the end of each and below the last."""
    lines = [line.rstrip() for line in text.replace("\r", "").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return tuple(lines[-MOST_LINES:])


def cut_cells(line: str, cells: int) -> str:
    """The beginning of the line, so many columns wide."""
    for at, character in enumerate(line):
        cells -= 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if cells < 0:
            return line[:at]
    return line
