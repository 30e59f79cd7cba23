"""A clock that somebody moves: every Python program that finds this first on its path tells the time by it."""

from __future__ import annotations

import os
import time

_FILE = os.environ.get("LLMC_CHAOS_CLOCK")
_true_time = time.time


def _moved_time() -> float:
    try:
        with open(str(_FILE), encoding="ascii") as offset:
            return _true_time() + float(offset.read())
    except (OSError, ValueError):
        return _true_time()


if _FILE:
    time.time = _moved_time
