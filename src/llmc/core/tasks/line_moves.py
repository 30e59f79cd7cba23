"""Where lines of a file are after it was changed, by the hunks of a diff without context."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llmc.values import Value

_HEADER = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


class LineHunk(Value):
    """Lines that others came in the place of. A side without lines begins after the line that it names."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int

    @property
    def old_end(self) -> int:
        """The last line that it takes away, or after which it adds."""
        return self.old_start + max(self.old_count, 1) - 1


class LineRange(Value):
    first: int
    last: int
    """Before `first` when nothing is left."""
    touched: bool = False


def parse_hunks(diff: str) -> tuple[LineHunk, ...]:
    """Of one file, made with `-U0`."""
    return tuple(LineHunk(*(int(number or 1) for number in found)) for found in _HEADER.findall(diff))


def follow(lines: LineRange, hunks: Sequence[LineHunk]) -> LineRange:
    touched = lines.touched or any(_touches(hunk, lines.first, lines.last) for hunk in hunks)
    return LineRange(_moved(lines.first, hunks, at_end=False), _moved(lines.last, hunks, at_end=True), touched)


def _moved(line: int, hunks: Sequence[LineHunk], *, at_end: bool) -> int:
    """Of lines that others came in the place of, the first or the last of those; one for one where they are as many."""
    inside = next((hunk for hunk in hunks if hunk.old_count and hunk.old_start <= line <= hunk.old_end), None)
    if inside is None:
        return line + sum(hunk.new_count - hunk.old_count for hunk in hunks if hunk.old_end < line)
    if inside.old_count == inside.new_count:
        return inside.new_start + line - inside.old_start
    if not inside.new_count:
        return inside.new_start + (not at_end)
    return inside.new_start + (inside.new_count - 1 if at_end else 0)


def _touches(hunk: LineHunk, first: int, last: int) -> bool:
    if hunk.old_count:
        return hunk.old_start <= last and hunk.old_end >= first
    return first <= hunk.old_start < last
