"""Waiting for what is to happen, with a bound: tests never sleep for luck."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
PAUSE_SECS = 0.01
PATIENCE_SECS = 120.0
"""How long a busy machine may take. It is only waited for what never happens."""


def wait_until(condition: Callable[[], Answer], timeout: float = PATIENCE_SECS, pause: float = PAUSE_SECS) -> Answer:
    """The condition's first true answer; the test fails when there is none in time."""
    until = time.monotonic() + timeout
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() >= until:
            raise AssertionError(f"it did not happen within {timeout:.0f} seconds; the last answer was {answer!r}")
        time.sleep(pause)
