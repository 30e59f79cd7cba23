"""Ctrl-C in the foreground: agents in the middle of a turn are not stopped before the person has said so."""

from __future__ import annotations

import os
from collections.abc import Sequence

STANDARD_INPUT = 0
MOST_READ = 4096
HINT = "Ctrl-C stops the agents and leaves"


class Farewell:
    """`words` is what the person reads below the view. The daemon goes on with its work while it waits."""

    def __init__(self, *, asks: bool) -> None:
        self.words = HINT
        self.answers_from = STANDARD_INPUT
        self._asks = asks
        self._asked = False

    def has_to_ask(self, busy: Sequence[str]) -> bool:
        """Whether it asks now. A second Ctrl-C is an answer, too."""
        if not self._asks or self._asked or not busy:
            return False
        are = "is" if len(busy) == 1 else "are"
        self._asked = True
        self.words = (
            f"{', '.join(busy)} {are} in the middle of a turn. Stop all the same? [y/N] (Ctrl-C again means yes)"
        )
        return True

    def hear(self) -> bool:
        """Reads the answer that has come. Without agreement everything goes on."""
        agreed = os.read(self.answers_from, MOST_READ).strip().lower() in (b"y", b"yes")
        self._asked, self.words = agreed, HINT
        return agreed

    def begin_to_stop(self, names: Sequence[str]) -> None:
        self.words = f"stopping {', '.join(names) or 'nothing: there are no workers'} ..."
