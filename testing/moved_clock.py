"""A clock that a test moves, for this process and for every Python program that it starts from then on."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

CLOCK = Path(__file__).parent / "chaos" / "clock"
"""Where `sitecustomize.py` is, by which other programs tell the time."""


class MovedClock:
    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._file = place / "clock"
        true_time = time.time
        self.put(0.0)
        path = os.pathsep.join(filter(None, (str(CLOCK), os.environ.get("PYTHONPATH"))))
        monkeypatch.setenv("PYTHONPATH", path)
        monkeypatch.setenv("LLMC_CHAOS_CLOCK", str(self._file))
        monkeypatch.setattr(time, "time", lambda: true_time() + self._ahead)

    def put(self, seconds: float) -> None:
        """So far ahead of the true time."""
        self._ahead = seconds
        new = self._file.with_name("clock.new")
        new.write_text(str(seconds))
        new.replace(self._file)
