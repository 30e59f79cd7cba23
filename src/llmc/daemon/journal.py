"""The log of a daemon or of a watcher itself."""

from __future__ import annotations

import os
import time

from llmc.store.worker_log import WorkerLog

NAME = "daemon"
EVERYBODY = ""
"""For complaints that concern no worker alone."""


class Journal:
    """JSON lines in a file that is bounded by rotation.

    What was last said of somebody is not said again and again, until it was fixed in between.
    """

    def __init__(self, log: WorkerLog, name: str = NAME) -> None:
        self._log = log
        self._name = name
        self._said: dict[str, str] = {}

    def complain(self, worker: str, text: str) -> bool:
        """Whether it was news."""
        if self._said.get(worker) == text:
            return False
        self._said[worker] = text
        self._write(worker, text)
        return True

    def note(self, text: str) -> None:
        """Said each time: it happened each time."""
        self._write(EVERYBODY, text)

    def settled(self, worker: str) -> None:
        self._said.pop(worker, None)

    def _write(self, worker: str, text: str) -> None:
        # A line that the disk refuses is dropped: a full disk ends no daemon.
        self._log.append(self._name, {"at": time.time(), "pid": os.getpid(), "worker": worker, "text": text})
