"""The live view of a daemon in the foreground."""

from __future__ import annotations

import math
import time
from collections.abc import Callable


class LiveView:
    """Drawn after every round in which something moved, and at least so often: ages grow even if nothing happens."""

    def __init__(self, draw: Callable[[str], None] | None, every_secs: float) -> None:
        """`draw` gets the words that stand below the view; without one nobody looks on."""
        self._draw = draw
        self._every_secs = every_secs
        self.due = 0.0 if draw is not None else math.inf
        """In monotonic time."""

    def soon(self) -> None:
        if self._draw is not None:
            self.due = 0.0

    def when_due(self, below: str) -> None:
        if self._draw is not None and time.monotonic() >= self.due:
            self._draw(below)
            self.due = time.monotonic() + self._every_secs
