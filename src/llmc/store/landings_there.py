"""Work of other machines that lands here: written down before your branch is touched, until its machine knows."""

from __future__ import annotations

from llmc.store.task_database import TaskDatabase
from llmc.values import Value

_FIELDS = ("machine", "worker", "task", "sha", "head", "message", "reviewed")


class LandingThere(Value):
    machine: str
    worker: str
    """What it is called there."""
    task: str
    sha: str
    """The commit on its way onto your branch."""
    head: str
    """The work that it was made of."""
    message: str
    reviewed: bool


class LandingsThere:
    def __init__(self, database: TaskDatabase) -> None:
        self._database = database

    def all(self, machine: str = "") -> list[LandingThere]:
        with self._database.reading() as connection:
            rows = connection.execute(f"SELECT {', '.join(_FIELDS)} FROM landings_there") if connection else ()
            found = [
                LandingThere(**{**dict(zip(_FIELDS, row, strict=True)), "reviewed": bool(row[-1])}) for row in rows
            ]
        return [each for each in found if machine in ("", each.machine)]

    def add(self, landing: LandingThere) -> None:
        values = [getattr(landing, name) for name in _FIELDS]
        with self._database.writing() as connection:
            connection.execute(f"INSERT OR REPLACE INTO landings_there VALUES ({', '.join('?' * len(values))})", values)

    def remove(self, landing: LandingThere) -> None:
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM landings_there WHERE machine = ? AND worker = ? AND sha = ?",
                (landing.machine, landing.worker, landing.sha),
            )
