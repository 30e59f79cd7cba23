"""Which option a dialog shows in another colour, where nothing else marks it."""

from __future__ import annotations

from collections.abc import Sequence

from llmc.core.dialogs.lists import Row
from llmc.core.screen.screen import plain
from llmc.core.screen.styles import PLAIN, Look, looks


def odd_one(lines: Sequence[str], styled: str | None, parts: Sequence[tuple[Row, int]]) -> int | None:
    """Which of these, each a row and the column where it begins, looks unlike the others; None: nobody can tell."""
    cells = _cells_of(lines, styled) if styled is not None else None
    if cells is None:
        return None
    seen = [_look_at(cells[row.at], row.shift + column) for row, column in parts]
    grounds = [_look_at(cells[row.at], row.shift) for row, _ in parts]
    lit = [n for n, (look, ground) in enumerate(zip(seen, grounds, strict=True)) if _stands_out(look, ground)]
    if len(lit) == 1:
        return lit[0]
    odd = [n for n, look in enumerate(seen) if seen.count(look) == 1]
    return odd[0] if len(odd) == 1 and len(seen) > 2 else None


def _cells_of(lines: Sequence[str], styled: str) -> list[list[Look]] | None:
    """Of these lines; None when the colours are those of another screen."""
    shown = [plain(line).rstrip() for line in styled.replace("\r", "").split("\n")]
    for first in range(len(shown) - len(lines) + 1):
        if shown[first : first + len(lines)] == list(lines):
            return looks(styled)[first : first + len(lines)]
    return None


def _look_at(cells: Sequence[Look], column: int) -> Look:
    return cells[column] if column < len(cells) else PLAIN


def _stands_out(look: Look, ground: Look) -> bool:
    return look[1] != ground[1] or (7 in look[2]) != (7 in ground[2])
