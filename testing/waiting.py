"""Waiting for what is to happen, with a bound: tests never sleep for luck."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
PAUSE_SECS = 0.01
REST = 5
LONGEST_PAUSE_SECS = 0.3
"""After a look that has taken long: whoever looks all the time takes the processor from what is waited for."""
PATIENCE_SECS = 120.0
"""How long a busy machine may take. It is only waited for what never happens."""


def wait_until(condition: Callable[[], Answer], timeout: float = PATIENCE_SECS, pause: float = PAUSE_SECS) -> Answer:
    """The condition's first true answer; the test fails when there is none in time."""
    until = time.monotonic() + timeout
    while True:
        began = time.monotonic()
        answer = condition()
        if answer:
            return answer
        now = time.monotonic()
        if now >= until:
            raise AssertionError(f"it did not happen within {timeout:.0f} seconds; the last answer was {answer!r}")
        time.sleep(max(pause, min(REST * (now - began), LONGEST_PAUSE_SECS)))
