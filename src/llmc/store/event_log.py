"""`status.db`: what happened, in order. A log that cannot be written never stands in the way of a change."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

from llmc.errors import LlmcError
from llmc.model import Json
from llmc.store.database import Database, NewerDatabaseError, is_damage
from llmc.values import Value

MIGRATIONS = (
    (
        """CREATE TABLE events (
            id INTEGER PRIMARY KEY, at_unix REAL, worker TEXT, kind TEXT, signal TEXT, work_before TEXT,
            work_after TEXT, session_before TEXT, session_after TEXT, detail TEXT, data TEXT)""",
        "CREATE INDEX events_of_worker ON events (worker, id)",
    ),
)

_TEXTS = ("worker", "kind", "signal", "work_before", "work_after", "session_before", "session_after", "detail")
_INSERT = f"INSERT INTO events (at_unix, {', '.join(_TEXTS)}, data) VALUES (?, {'?, ' * len(_TEXTS)}?)"
_SELECT = f"SELECT at_unix, {', '.join(_TEXTS)}, data, id FROM events"
_PRUNE = "DELETE FROM events WHERE id <= (SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?)"

Action = Callable[[sqlite3.Connection], object]


class EventLogError(LlmcError):
    """The log of events cannot be used."""


class LoggedEvent(Value):
    """One entry. Before and after are empty where nothing moved; the id is given by the log."""

    at_unix: float
    worker: str
    kind: str
    signal: str = ""
    work_before: str = ""
    work_after: str = ""
    session_before: str = ""
    session_after: str = ""
    detail: str = ""
    data: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    id: int = 0


class EventLog:
    """A writer waits `busy_seconds` at most for another one. `warn` hears why something was not written."""

    def __init__(
        self, path: Path | str, *, warn: Callable[[str], None] = lambda _: None, busy_seconds: float = 2.0
    ) -> None:
        self._database = Database(path, MIGRATIONS, busy_seconds=busy_seconds)
        self.path = self._database.path
        self._warn = warn

    def append(self, *events: LoggedEvent) -> bool:
        """Writes all or none. False, and a warning, when the log cannot take them."""
        rows = [_to_row(event) for event in events]
        return self._write(lambda database: database.executemany(_INSERT, rows))

    def prune(self, max_rows: int) -> bool:
        """Forgets the oldest events beyond `max_rows`."""
        return self._write(lambda database: database.execute(_PRUNE, (max_rows,)))

    def recent(self, worker: str | None = None, *, limit: int = 100, after_id: int = 0) -> list[LoggedEvent]:
        """The last `limit` events or, with `after_id`, the next `limit` after that one; oldest first."""
        with self._reading() as database:
            rows = _select(database, worker, limit, after_id) if database is not None else []
        return sorted((_from_row(row) for row in rows), key=lambda event: event.id)

    def latest(self, worker: str, *kinds: str, after_id: int = 0) -> LoggedEvent | None:
        """The last event of one of these kinds; with no kind, the last one that tells what the work was."""
        which = f"kind IN ({', '.join('?' * len(kinds))})" if kinds else "work_after != ''"
        query = f"{_SELECT} WHERE worker = ? AND id > ? AND {which} ORDER BY id DESC LIMIT 1"
        with self._reading() as database:
            row = database.execute(query, (worker, after_id, *kinds)).fetchone() if database is not None else None
        return _from_row(row) if row else None

    def set_aside(self, why: object) -> None:
        """Under another name; the next event begins a new one."""
        aside = self._database.set_aside()
        if aside is not None:
            self._warn(f"{self.path.name} was damaged ({why}) and begun anew; the old one is kept as {aside}")

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _write(self, action: Action) -> bool:
        try:
            try:
                self._transact(action)
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
                self.set_aside(error)
                self._transact(action)
        except (sqlite3.Error, OSError, LlmcError) as error:
            self.close()
            self._warn(f"{self.path.name} was not written: {error}")
            return False
        return True

    def _transact(self, action: Action) -> None:
        with self._database.writing() as database:
            action(database)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        try:
            with self._database.reading() as database:
                yield database
        except sqlite3.Error as error:
            hint = "it is begun anew at the next change" if is_damage(error) else "run `llmc doctor`"
            raise EventLogError(f"{self.path} cannot be read: {error}", hint) from error
        except NewerDatabaseError as newer:
            raise EventLogError(newer.what, newer.hint) from None


def _select(database: sqlite3.Connection, worker: str | None, limit: int, after_id: int) -> list[tuple[Any, ...]]:
    newest = database.execute("SELECT max(id) FROM events").fetchone()[0] or 0
    after = after_id if after_id <= newest else 0  # a smaller newest id: the log was begun anew since
    of_worker = "" if worker is None else "AND worker = :worker"
    query = f"""{_SELECT} WHERE id > :after {of_worker}
        ORDER BY id {"ASC" if after else "DESC"} LIMIT :limit"""
    return database.execute(query, {"after": after, "worker": worker, "limit": limit}).fetchall()


def _to_row(event: LoggedEvent) -> tuple[Any, ...]:
    # A name from a disk may hold bytes that are no text; SQLite would refuse the whole entry.
    texts = (str(getattr(event, name)).encode("utf-8", "backslashreplace").decode() for name in _TEXTS)
    return (event.at_unix, *texts, json.dumps(dict(event.data), default=str))


def _from_row(row: tuple[Any, ...]) -> LoggedEvent:
    at_unix, *texts, data, number = row
    named = dict(zip(_TEXTS, texts, strict=True))
    return LoggedEvent(at_unix, **named, data=MappingProxyType(json.loads(data)), id=number)
