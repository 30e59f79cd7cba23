"""What time it is, by the clock that people set and by the one that only runs."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

from llmc.model import Clock

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def read_clock() -> Clock:
    # Sleep included: a machine that was asleep for a day has a clock that is right, and a day that has gone by.
    up_secs = time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
    return Clock(time.time(), up_secs, _boot())


@cache
def _boot() -> str:
    """Which start of the machine this is; empty where nothing tells it."""
    try:
        return BOOT_ID.read_bytes().decode().strip()
    except (OSError, ValueError):
        return ""
