"""What changes on the board, numbered: whoever was away for a while goes on from there, or gets it whole."""

from __future__ import annotations

from collections import deque
from typing import Any

from llmc.core.board.shapes import Board, Change

KEPT = 500
"""Changes that somebody who was away can still be told."""


class BoardFeed:
    """The board as it was told last. `name` is that of this feed alone: numbers of another one mean nothing here."""

    def __init__(self, name: str, kept: int = KEPT) -> None:
        self._name = name
        self._number = 0
        self._changes: deque[Change] = deque(maxlen=kept)
        self.board: Board | None = None

    @property
    def last_id(self) -> str:
        return f"{self._name}.{self._number}"

    def take(self, board: Board, events: list[dict[str, Any]]) -> Change | None:
        """The board as it is now, and what was logged since the last time; None when nobody would see a difference."""
        before, self.board = self.board, board
        if before is None:
            return None
        change = _difference(before, board, events)
        if change is None:
            return None
        self._number += 1
        change["id"] = self.last_id
        self._changes.append(change)
        return change

    def since(self, last_id: str) -> list[Change] | None:
        """What has changed since then; None when that is not known any more, or never was."""
        name, _, number = last_id.rpartition(".")
        if name != self._name or not number.isdecimal() or int(number) > self._number:
            return None
        missed = self._number - int(number)
        return list(self._changes)[len(self._changes) - missed :] if missed <= len(self._changes) else None


def _difference(before: Board, after: Board, events: list[dict[str, Any]]) -> Change | None:
    old = {column["name"]: column for column in before["columns"]}
    change: Change = {
        "id": "",
        "head": after["head"] if after["head"] != before["head"] else None,
        "columns": [column for column in after["columns"] if column != old.get(column["name"])],
        "cards": [card for key, card in after["cards"].items() if card != before["cards"].get(key)],
        "gone": [key for key in before["cards"] if key not in after["cards"]],
        "events": events,
    }
    parts = (change["head"], change["columns"], change["cards"], change["gone"], events)
    return change if any(parts) else None
