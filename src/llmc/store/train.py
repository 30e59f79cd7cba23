"""The merge train in `tasks.db`. One process runs it; what is kept here is all that the next one needs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from llmc.core.tasks.train import EntryState, TrainEntry, by_forecast
from llmc.host.files import disk_errors, make_own_directory, write_atomically
from llmc.model import Json
from llmc.store.task_database import TaskDatabase

_COLUMNS = tuple(each.name for each in fields(TrainEntry) if each.name != "id")
_SELECT = f"SELECT id, {', '.join(_COLUMNS)} FROM train"
_IS_OPEN = "state IN ('waiting', 'checking', 'landing')"
_OVER_NOW = "over_at_unix = (julianday('now') - 2440587.5) * 86400.0"
ENDED_KEPT = 1000
"""Entries that are over, for who asks what came of them."""


class TrainStore:
    """`mark` is a small file for whoever only looks, and a signal of every change."""

    def __init__(self, database: TaskDatabase, mark: Path) -> None:
        self._database = database
        self._mark = mark

    # --- reading ------------------------------------------------------------------------------------

    def open(self) -> list[TrainEntry]:
        """In their order."""
        return self._select(f"WHERE {_IS_OPEN} ORDER BY position, id")

    def ended(self, limit: int) -> list[TrainEntry]:
        """The last ones, oldest first."""
        return self._select(f"WHERE NOT {_IS_OPEN} ORDER BY id DESC LIMIT ?", limit)[::-1]

    def entries(self, ids: Collection[int]) -> list[TrainEntry]:
        return self._select(f"WHERE id IN ({', '.join('?' * len(ids))}) ORDER BY position, id", *ids)

    def of_task(self, worker: str, task: str) -> list[TrainEntry]:
        return self._select("WHERE worker = ? AND task = ? ORDER BY id", worker, task)

    def has(self, worker: str) -> bool:
        return bool(self._select(f"WHERE {_IS_OPEN} AND worker = ?", worker))

    @property
    def is_paused(self) -> bool:
        with self._database.reading() as connection:
            return connection is not None and bool(connection.execute("SELECT 1 FROM train_pause").fetchone())

    def _select(self, where: str, *values: object) -> list[TrainEntry]:
        with self._database.reading() as connection:
            return _read(connection, where, *values) if connection is not None else []

    # --- writing ------------------------------------------------------------------------------------

    def join(self, entries: Sequence[TrainEntry], clashes: Collection[frozenset[str]] = ()) -> list[TrainEntry]:
        """As they are kept. A worker that is in the train already keeps its place."""
        with self._database.writing() as connection:
            for entry in entries:
                _add(connection, entry)
            together = _read(connection, f"WHERE {_IS_OPEN} ORDER BY position, id")
            for entry in by_forecast(together, clashes):
                connection.execute("UPDATE train SET position = ? WHERE id = ?", (entry.position, entry.id))
            prune = f"DELETE FROM train WHERE NOT {_IS_OPEN} AND id <= (SELECT max(id) FROM train) - ?"
            connection.execute(prune, (ENDED_KEPT,))
        self.tell()
        named = {entry.worker for entry in entries}
        return [entry for entry in self.open() if entry.worker in named]

    def change(
        self, entry: TrainEntry, state: EntryState, detail: str = "", result: Mapping[str, object] | None = None
    ) -> bool:
        """False when the entry is over already: somebody has taken it out."""
        over = "" if state.is_open else f", {_OVER_NOW}"
        update = f"UPDATE train SET state = ?, detail = ?, result = ?{over} WHERE id = ? AND {_IS_OPEN}"
        with self._database.writing() as connection:
            done = connection.execute(update, (state.value, detail, json.dumps(result), entry.id))
        self.tell()
        return bool(done.rowcount)

    def take_out(self, worker: str, why: str, *, ids: Collection[int] | None = None, landing_too: bool = False) -> bool:
        """Unless it is landing just now, or `landing_too`. False when it was not in the train."""
        if not self.has(worker):
            return False
        result = json.dumps({"what": why, "hint": f"`llmc accept {worker}` accepts it by itself"})
        mine = "" if ids is None else f" AND id IN ({', '.join('?' * len(ids))})"
        mine += "" if landing_too else " AND state != 'landing'"
        with self._database.writing() as connection:
            done = connection.execute(
                f"UPDATE train SET state = 'left', detail = ?, result = ?, {_OVER_NOW}"
                f" WHERE worker = ? AND {_IS_OPEN}{mine}",
                (why, result, worker, *(ids or ())),
            )
        if done.rowcount:
            self.tell()
        return bool(done.rowcount)

    def pause(self, *, paused: bool) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM train_pause")
            if paused:
                connection.execute("INSERT INTO train_pause VALUES (1)")
        self.tell()

    def tell(self) -> None:
        document = {"schema": 1, "paused": self.is_paused, "entries": [told(entry) for entry in self.open()]}
        with disk_errors(self._mark):
            make_own_directory(str(self._mark.parent))
            write_atomically(self._mark, json.dumps(document))


def told(entry: TrainEntry) -> dict[str, Json]:
    """For scripts."""
    return {
        "worker": entry.worker,
        "task": entry.task or None,
        "state": entry.state.value,
        "detail": entry.detail,
        "unattended": entry.auto,
        "at_unix": entry.at_unix,
        "over_at_unix": entry.over_at_unix or None,
    }


def _read(connection: sqlite3.Connection, where: str, *values: object) -> list[TrainEntry]:
    return [_from_row(row) for row in connection.execute(f"{_SELECT} {where}", values).fetchall()]


def _add(connection: sqlite3.Connection, entry: TrainEntry) -> None:
    """One that is in it already keeps its place: the last word about the rest holds, unless it is landing."""
    if connection.execute(f"SELECT 1 FROM train WHERE worker = ? AND {_IS_OPEN}", (entry.worker,)).fetchone():
        connection.execute(
            "UPDATE train SET task = ?, message = ?, changed = ?, tree = ?, auto = ?"
            " WHERE worker = ? AND state IN ('waiting', 'checking')",
            (entry.task, entry.message, entry.changed, entry.tree, entry.auto, entry.worker),
        )
        return
    last = connection.execute("SELECT coalesce(max(position), 0) FROM train").fetchone()[0]
    placed = replace(entry, position=last + 1)
    values = [getattr(placed, name) for name in _COLUMNS]
    values[_COLUMNS.index("result")] = json.dumps(None)
    connection.execute(f"INSERT INTO train ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})", values)


def _from_row(row: tuple[Any, ...]) -> TrainEntry:
    number, *values = row
    read = dict(zip(_COLUMNS, values, strict=True))
    flags = {name: bool(read[name]) for name in ("changed", "auto", "ordered")}
    return TrainEntry(
        **{**read, **flags, "id": number, "state": EntryState(read["state"]), "result": json.loads(read["result"])}
    )
