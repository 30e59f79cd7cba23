"""Rows of a screen without their frames, and options below each other: numbered or not, wrapped or not, marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from llmc.core.dialogs.dialog import Option
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

MOST_OPTIONS = 60
MOST_BETWEEN = 6
"""Lines of remarks between two options."""
LONGEST_WORDS = 300
UNSURE_MARKS = ">*"
"""A prompt, a quotation or a point of a list: marks in front of a number, or where the keys say so."""

NUMBER = r"(?P<bracket>\[)?(?P<number>\d{1,2})(?(bracket)\]|[.)])(?: {1,3}|(?=[^\s\d]))"
MARKED = re.compile(rf"^\s*(?P<mark>[❯›▶►▸●◉⦿→➜➤>*]) {{1,3}}(?:{NUMBER})?(?P<words>\S.*)$")
NUMBERED = re.compile(rf"^\s*(?:[○◯◦·] )?{NUMBER}(?P<words>\S.*)$")


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


# --- options ---------------------------------------------------------------------------------------


class OptionList(Value):
    options: tuple[Option, ...]
    marked: int | None
    first: int
    """The row of its first option."""
    last: int
    """The last row that belongs to it."""
    places: tuple[int, ...]
    """The row of each option."""
    sure: bool = True
    """Its mark is nothing else."""

    @property
    def is_numbered(self) -> bool:
        return self.options[0].number is not None


def marked_list(rows: Sequence[Row], end: int) -> OptionList | None:
    """The lowest list of which one option has a mark."""
    for at in range(end, -1, -1):
        match = MARKED.match(rows[at].words)
        if match is None:
            continue
        found = _around_number(rows, at, match) if match["number"] else _around_mark(rows, at, match)
        if found is not None:
            return found
    return None


def unmarked_list(rows: Sequence[Row], end: int) -> OptionList | None:
    """The lowest list whose options have numbers from 1 on."""
    for at in range(end, -1, -1):
        match = NUMBERED.match(rows[at].words)
        if match is not None and match["number"] == "1":
            return _from_number(rows, at, match)
    return None


# --- with numbers ---------------------------------------------------------------------------------


def _around_number(rows: Sequence[Row], at: int, match: re.Match[str]) -> OptionList | None:
    """The options with the next numbers above and below the marked one, in the same column."""
    number, column = int(match["number"]), match.start("words")
    above, _ = _next_numbers(rows, at, -1, number, column)
    below, last = _next_numbers(rows, at, 1, number, column)
    places = (*reversed(above), at, *below)
    lowest = number - len(above)
    if len(places) < 2 or lowest not in (0, 1):
        return None
    return _numbered_list(rows, places, lowest, len(above), last, column)


def _from_number(rows: Sequence[Row], at: int, match: re.Match[str]) -> OptionList | None:
    column = match.start("words")
    below, last = _next_numbers(rows, at, 1, 1, column)
    return _numbered_list(rows, (at, *below), 1, None, last, column) if below else None


def _next_numbers(rows: Sequence[Row], at: int, step: int, number: int, column: int) -> tuple[list[int], int]:
    """Where the options are that go on from here, upwards or downwards, and the last row that belongs to them."""
    found: list[int] = []
    width = _width(rows)
    edge = here = at
    while 0 <= (here := here + step) < len(rows) and abs(here - edge) <= MOST_BETWEEN and len(found) < MOST_OPTIONS:
        row = rows[here]
        match = NUMBERED.match(row.words)
        if match and int(match["number"]) == number + step and abs(match.start("words") - column) <= 2:
            number += step
            found.append(here)
            edge = here
        elif not row.blank and row.indent < column and not _was_broken(rows[here - 1], row, width):
            break
        elif step > 0 and not row.blank and edge == here - 1:
            edge = here  # a remark on the option above it
    return found, edge


def _numbered_list(
    rows: Sequence[Row], places: tuple[int, ...], lowest: int, marked: int | None, last: int, column: int
) -> OptionList:
    width = _width(rows)
    options = []
    for n, place in enumerate(places):
        until = places[n + 1] if n + 1 < len(places) else last + 1
        match = MARKED.match(rows[place].words) or NUMBERED.match(rows[place].words)
        words = match["words"] if match else rows[place].words
        below = [row for row in rows[place + 1 : until] if not row.blank]
        options.append(replace(_whole(words, rows[place], below, width), number=lowest + n))
    return OptionList(tuple(options), marked, places[0], last, places)


def _whole(words: str, row: Row, below: Sequence[Row], width: int) -> Option:
    """An option with the rest of its words, where the line was too short for them, and the remark on it."""
    remark: list[str] = []
    for following in below:
        if not remark and _was_broken(row, following, width):
            words, row = f"{words.rstrip()} {following.words.strip()}", following
        else:
            remark.append(following.words.strip())
    option = _split(words)
    return replace(option, about=" ".join(remark)) if remark else option


def _split(words: str) -> Option:
    """Some write what an option means behind it, a few spaces apart."""
    said, _, about = words.strip().partition("  ")
    return Option(said.strip()[:LONGEST_WORDS], about=about.strip())


def _was_broken(row: Row, following: Row, width: int) -> bool:
    """Whether the line had no room for the first word of the next one."""
    word = following.text.split()[0]
    return row.shift + len(row.text) + 1 + len(word) > width


def _width(rows: Sequence[Row]) -> int:
    return max((row.shift + len(row.text) for row in rows), default=0)


# --- without numbers ------------------------------------------------------------------------------


def _around_mark(rows: Sequence[Row], at: int, match: re.Match[str]) -> OptionList | None:
    """The lines above and below the marked one that begin in the same column."""
    if found := _paragraphs(rows, at, match):
        return found
    column, width = match.start("words"), _width(rows)
    above, below = list(_siblings(rows, at, -1, column)), list(_siblings(rows, at, 1, column))
    places: list[int] = []
    said: list[str] = []
    for here in (*reversed(above), at, *below):
        words = match["words"] if here == at else rows[here].words.strip()
        if places and here != at and _was_broken(rows[here - 1], rows[here], width):
            said[-1] = f"{said[-1]} {words}"
            continue
        places.append(here)
        said.append(words)
    if len(places) < 2:
        return None
    last = below[-1] if below else at
    sure = match["mark"] not in UNSURE_MARKS
    return OptionList(tuple(map(_split, said)), places.index(at), places[0], last, tuple(places), sure)


def _paragraphs(rows: Sequence[Row], at: int, match: re.Match[str]) -> OptionList | None:
    """Options with a blank line between them, each with a remark below it."""
    column = match.start("words")
    heads = [*reversed(list(_heads(rows, at, -1, column))), at, *_heads(rows, at, 1, column)]
    remarks = [list(_siblings(rows, head, 1, column)) for head in heads]
    if len(heads) < 2 or not all(remarks):
        return None
    said = [match["words"] if head == at else rows[head].words for head in heads]
    options = (
        Option(words.strip()[:LONGEST_WORDS], about=" ".join(rows[line].words.strip() for line in remark))
        for words, remark in zip(said, remarks, strict=True)
    )
    return OptionList(tuple(options), heads.index(at), heads[0], remarks[-1][-1], tuple(heads))


def _heads(rows: Sequence[Row], at: int, step: int, column: int) -> Iterator[int]:
    """The first lines of the paragraphs above or below, one blank line apart, which begin in the same column."""
    while True:
        lines = list(_siblings(rows, at, step, column)) if step > 0 else []
        blank = (lines[-1] if lines else at) + step
        nearest = blank + step
        if not 0 <= nearest < len(rows) or _is_drawn(rows[blank]) or not _is_sibling(rows[nearest], column):
            return
        above = list(_siblings(rows, nearest, -1, column)) if step < 0 else []
        at = above[-1] if above else nearest
        yield at


def _is_drawn(row: Row) -> bool:
    return row.is_rule or not row.blank


def _siblings(rows: Sequence[Row], at: int, step: int, column: int) -> Iterator[int]:
    while 0 <= (at := at + step) < len(rows):
        row = rows[at]
        if not _is_sibling(row, column):
            return
        yield at


def _is_sibling(row: Row, column: int) -> bool:
    return not row.blank and row.indent == column and row.text[column].isalnum()
