"""What wakes up whoever waits: signals that ask this process to end, and the ends of other processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from selectors import EVENT_READ, BaseSelector
from types import FrameType


class Ending(Enum):
    INTERRUPTED = "the person pressed Ctrl-C"
    ASKED = "asked to end, or the terminal was closed"


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
        self.ending = Ending.INTERRUPTED if number == signal.SIGINT else Ending.ASKED
        self.wake()


class ProcessExits:
    """A file per process that becomes readable when the process ends. Linux; elsewhere the patrol sees it."""

    def __init__(self, selector: BaseSelector) -> None:
        self._selector = selector
        self._watched: dict[int, tuple[int, str]] = {}

    def follow(self, pids: Mapping[int, str]) -> list[str]:
        """Follows exactly these processes, each with the worker it belongs to. Whose has ended already is told."""
        if not hasattr(os, "pidfd_open"):
            return []
        missed = []
        for pid in self._watched.keys() - pids.keys():
            self._forget(pid)
        for pid in pids.keys() - self._watched.keys():
            try:
                fd = os.pidfd_open(pid)
            except OSError:
                missed.append(pids[pid])
                continue
            self._watched[pid] = (fd, pids[pid])
            self._selector.register(fd, EVENT_READ, ("exit", pid))
        return missed

    def ended(self, pid: int) -> str:
        """The worker whose process this was."""
        worker = self._watched[pid][1]
        self._forget(pid)
        return worker

    def _forget(self, pid: int) -> None:
        fd, _ = self._watched.pop(pid)
        self._selector.unregister(fd)
        os.close(fd)

    def close(self) -> None:
        for pid in list(self._watched):
            self._forget(pid)
