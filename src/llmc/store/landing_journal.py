"""`landings.json`: the landings that are under way or were cut short, in order. No file means none.

Only whoever holds the landing lock changes it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from llmc.core.landing.journal import Landing
from llmc.core.schema import record_of
from llmc.errors import LlmcError
from llmc.host.files import disk_error, disk_errors, sync_directory, write_atomically

SCHEMA = 1
_LANDING = record_of(Landing)


class JournalBrokenError(LlmcError):
    """The journal of landings cannot be read."""


class LandingJournal:
    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def read(self) -> tuple[Landing, ...]:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise disk_error(self._path, error) from error
        try:
            return tuple(_LANDING.read(each) for each in _listed(json.loads(data)))
        except ValueError as error:
            raise JournalBrokenError(
                f"{self._path} is damaged: {error}",
                "see by `git status` what a landing has left in your repository, then `llmc doctor --repair`",
            ) from error

    def add(self, landing: Landing) -> None:
        """On the disk when this returns."""
        self._write((*self.read(), landing))

    def remove(self, landing: Landing) -> None:
        self._write(tuple(each for each in self.read() if each.id != landing.id))

    def _write(self, landings: tuple[Landing, ...]) -> None:
        with disk_errors(self._path):
            if landings:
                document = {"schema": SCHEMA, "landings": [asdict(each) for each in landings]}
                write_atomically(self._path, json.dumps(document), durable=True)
            else:
                self._path.unlink(missing_ok=True)
                sync_directory(self._path.parent)


def _listed(data: object) -> list[object]:
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or not isinstance(data.get("landings"), list):
        raise ValueError("it is no journal that this version knows")
    return list(data["landings"])
