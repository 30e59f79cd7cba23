"""What a hub has asked of this root, with the answers: asked again under the same name, nothing is done twice."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from llmc.host.files import write_atomically
from llmc.host.locks import FileLock
from llmc.root import Root

KEPT_SECS = 14 * 86_400.0
LONGEST_SECS = 7200.0


class RequestStore:
    def __init__(self, root: Root) -> None:
        self._directory = Path(root.inside("requests"))

    def turn(self, request: str) -> FileLock:
        """Held by whoever carries it out: who asks again waits for the answer. It ends with its process."""
        self._directory.mkdir(mode=0o700, exist_ok=True)
        return FileLock(self._file(request, "lock"), name="the request", timeout=LONGEST_SECS)

    def read(self, request: str) -> dict[str, Any] | None:
        """`{}` when it was begun and nobody knows what came of it; None when it is new."""
        try:
            found = json.loads(self._file(request, "json").read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def write(self, request: str, answer: dict[str, Any]) -> None:
        """On the disk when this returns."""
        write_atomically(self._file(request, "json"), json.dumps(answer), durable=True)

    def forget_old(self) -> None:
        for entry in os.scandir(self._directory) if self._directory.is_dir() else ():
            with suppress(OSError):
                if entry.stat().st_mtime < time.time() - KEPT_SECS:
                    os.unlink(entry.path)

    def _file(self, request: str, kind: str) -> Path:
        plain = "".join(letter if letter.isalnum() or letter in ".-_" else "_" for letter in request)
        return self._directory / f"{plain[:120]}.{kind}"
