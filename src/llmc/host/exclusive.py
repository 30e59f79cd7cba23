"""One at a time, across processes, for what takes milliseconds and must happen whatever becomes of the others."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

PAUSE_SECS = 0.001


@contextmanager
def alone(path: str, within: float) -> Iterator[None]:
    """Nobody else who asks for this path is in here. After `within` seconds, or where no file can be, it goes on."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        _wait(fd, time.monotonic() + within)
        yield
    finally:
        os.close(fd)


def _wait(fd: int, until: float) -> None:
    while time.monotonic() < until:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(PAUSE_SECS)  # never longer: whoever comes later would be quicker
        else:
            return
