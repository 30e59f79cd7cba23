"""The lines of a screen without the frames that are drawn around them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llmc.values import Value

LOOKED_AT = 80
"""Lines from the end: no dialog is longer."""
FAR_RIGHT = 60
"""Columns of nothing after the edge of a frame: what follows is another part of the screen."""

EDGE = re.compile(r"^\s{0,9}[│┃║▌|](?: |$)")
RIGHT_EDGE = re.compile(r"\s+[│┃║▐](?:\s+[│┃║▐])?\s*$")
RULE = re.compile(r"^[\s│┃]*[─━═╌┄▔▁▀▄╭╮╰╯┌┐└┘├┤╔╗╚╝╠╣╹]{3,}[\s│┃─━═╌┄▔▁▀▄╭╮╰╯┌┐└┘├┤╔╗╚╝╠╣╹]*$")
ASIDE = re.compile(r"(?<=\S)(?:\s{2,}[│┃┌└├]|\s{20,}\S).*$")
"""What stands to the right, such as a preview or a side bar."""


class Row(Value):
    """A line without its frame."""

    at: int
    """Its number on the screen."""
    text: str
    shift: int = 0
    """How much of the line was cut off at the left: more than nothing means that it is in a frame."""
    is_rule: bool = False

    @property
    def blank(self) -> bool:
        return self.is_rule or not self.text.strip()

    @property
    def words(self) -> str:
        """Without what stands to the right of it."""
        return ASIDE.sub("", self.text)

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


def rows_of(lines: Sequence[str]) -> list[Row]:
    first = max(0, len(lines) - LOOKED_AT)
    return [_row(at, lines[at]) for at in range(first, len(lines))]


def last_row(rows: Sequence[Row]) -> int | None:
    """The last one with something in it."""
    return next((at for at in range(len(rows) - 1, -1, -1) if not rows[at].blank), None)


def _row(at: int, line: str) -> Row:
    shift = 0
    while edge := EDGE.match(line[shift:]):  # a frame may stand in a frame
        shift += edge.end()
    if RULE.match(line):
        return Row(at, "", shift, is_rule=True)
    text = RIGHT_EDGE.sub("", line[shift:]).rstrip()
    row = Row(at, text, shift)
    return Row(at, "", shift) if shift and row.indent >= FAR_RIGHT else row
