"""Reports events as files in a directory, each complete from the moment it has its name."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path


class Spool:
    """Without a directory, every report goes nowhere."""

    def __init__(self, directory: str | None, session: str = "") -> None:
        self._directory = Path(directory) if directory else None
        self._session = session
        self._count = 0

    def report(self, event: str, fields: Mapping[str, str | int]) -> None:
        """Raises OSError when the directory cannot be written."""
        if self._directory is None:
            return
        self._count += 1
        now = time.time_ns()
        payload = {"event": event, "session": self._session, "at": now / 1e9, **fields}
        name = f"{now:020d}-{os.getpid()}-{self._count:06d}.json"
        unfinished = self._directory / f".{name}.tmp"
        unfinished.write_text(json.dumps(payload, ensure_ascii=False), encoding="utf-8", errors="replace")
        unfinished.rename(self._directory / name)
