"""The daemon's own log."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress

EVERYBODY = ""
"""For complaints that concern no worker alone."""


class Journal:
    """JSON lines. What was last said of somebody is not said again and again, until it was mended in between."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._said: dict[str, str] = {}

    def complain(self, worker: str, text: str) -> None:
        if self._said.get(worker) == text:
            return
        self._said[worker] = text
        line = json.dumps({"at": time.time(), "pid": os.getpid(), "worker": worker, "text": text})
        with suppress(OSError), open(self._path, "a", encoding="utf-8") as log:  # a full disk ends no daemon
            log.write(line + "\n")

    def mended(self, worker: str) -> None:
        self._said.pop(worker, None)
