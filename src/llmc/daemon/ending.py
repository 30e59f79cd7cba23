"""What ends the daemon, and how."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from enum import Enum
from types import FrameType


class Ending(Enum):
    STOP_AGENTS = "the person pressed Ctrl-C: the agents end too"
    LEAVE_AGENTS = "asked to end, or the terminal was closed: the agents go on"


class EndingSignals:
    """Catches the signals and makes them readable as a file, so that waiting wakes up."""

    def __init__(self) -> None:
        self.ending: Ending | None = None
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        os.set_blocking(self._reader, False)
        signal.signal(signal.SIGINT, self._caught)
        signal.signal(signal.SIGTERM, self._caught)
        signal.signal(signal.SIGHUP, self._caught)

    def fileno(self) -> int:
        return self._reader

    def wake(self) -> None:
        with suppress(BlockingIOError):
            os.write(self._writer, b".")

    def drain(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._reader, 4096)

    def _caught(self, number: int, frame: FrameType | None) -> None:
        self.ending = Ending.STOP_AGENTS if number == signal.SIGINT else Ending.LEAVE_AGENTS
        self.wake()
