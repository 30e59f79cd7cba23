"""`status.db`: what happened, in order. A log that cannot be written never stands in the way of a change."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import field
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self
from urllib.parse import quote

from llmc.errors import LlmcError
from llmc.host.files import stand_aside
from llmc.host.locks import FileLock
from llmc.model import Json
from llmc.values import Value

MIGRATIONS = (
    (
        """CREATE TABLE events (
            id INTEGER PRIMARY KEY, at_unix REAL, worker TEXT, kind TEXT, signal TEXT, work_before TEXT,
            work_after TEXT, session_before TEXT, session_after TEXT, detail TEXT, data TEXT)""",
        "CREATE INDEX events_of_worker ON events (worker, id)",
    ),
)
"""The statements at index N bring a database of version N to the next one."""

_TEXTS = ("worker", "kind", "signal", "work_before", "work_after", "session_before", "session_after", "detail")
_INSERT = f"INSERT INTO events (at_unix, {', '.join(_TEXTS)}, data) VALUES (?, {'?, ' * len(_TEXTS)}?)"
_SELECT = f"SELECT at_unix, {', '.join(_TEXTS)}, data, id FROM events"
_PRUNE = "DELETE FROM events WHERE id <= (SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?)"
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

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
        self.path = Path(path).absolute()
        self._warn = warn
        self._busy_seconds = busy_seconds
        self._database: sqlite3.Connection | None = None
        self._file: os.stat_result | None = None
        self._one_at_a_time = threading.Lock()  # the daemon looks after several workers at once

    def append(self, *events: LoggedEvent) -> bool:
        """Writes all or none. False, and a warning, when the log cannot take them."""
        rows = [_to_row(event) for event in events]
        return self._write(lambda database: database.executemany(_INSERT, rows))

    def prune(self, max_rows: int) -> bool:
        """Forgets the oldest events beyond `max_rows`."""
        return self._write(lambda database: database.execute(_PRUNE, (max_rows,)))

    def recent(self, worker: str | None = None, *, limit: int = 100, after_id: int = 0) -> list[LoggedEvent]:
        """The last `limit` events or, with `after_id`, the next `limit` after that one; oldest first."""
        if not self.path.exists():
            return []
        with self._reading() as database:
            rows = _select(database, worker, limit, after_id) if _version(database) else []
        return sorted((_from_row(row) for row in rows), key=lambda event: event.id)

    def latest(self, worker: str, *kinds: str, after_id: int = 0) -> LoggedEvent | None:
        """The last event of one of these kinds; with no kind, the last one that tells what the work was."""
        if not self.path.exists():
            return None
        which = f"kind IN ({', '.join('?' * len(kinds))})" if kinds else "work_after != ''"
        query = f"{_SELECT} WHERE worker = ? AND id > ? AND {which} ORDER BY id DESC LIMIT 1"
        with self._reading() as database:
            row = database.execute(query, (worker, after_id, *kinds)).fetchone() if _version(database) else None
        return _from_row(row) if row else None

    def set_aside(self, why: str) -> None:
        """Under another name; the next event begins a new one."""
        self._file = _status(self.path)
        self._set_aside(why)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
        self._database = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _write(self, action: Action) -> bool:
        with self._one_at_a_time:
            try:
                try:
                    self._transact(action)
                except sqlite3.DatabaseError as error:
                    if not _is_damage(error):
                        raise
                    self._set_aside(error)
                    self._transact(action)
            except (sqlite3.Error, OSError, LlmcError) as error:
                self.close()
                self._warn(f"{self.path.name} was not written: {error}")
                return False
        return True

    def _transact(self, action: Action) -> None:
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            action(database)

    def _open(self) -> sqlite3.Connection:
        if self._database is None or not self._is_current():
            self.close()
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._names_lock():
                stand_aside(self.path)  # SQLite would follow a link
                self._database = sqlite3.connect(
                    self.path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
                )
                self._file = _status(self.path)
                _prepare(self._database, self.path)
        return self._database

    def _names_lock(self) -> FileLock:
        """The database is three files. Nobody may open them while they are being renamed: the parts would mix."""
        return FileLock(self.path.with_name(f".{self.path.name}.lock"), name=self.path.name, timeout=self._busy_seconds)

    def _is_current(self) -> bool:
        """Whether the file was neither removed nor set aside by another process since it was opened."""
        now = _status(self.path)
        return self._file is not None and now is not None and os.path.samestat(self._file, now)

    def _set_aside(self, why: object) -> None:
        self.close()
        aside = f"{self.path.name}.corrupt-{time.time_ns()}"
        with self._names_lock():
            if not self._is_current():
                return
            for suffix in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    Path(f"{self.path}{suffix}").rename(self.path.with_name(aside + suffix))
        self._warn(f"{self.path.name} was damaged ({why}) and begun anew; the old one is kept as {aside}")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            with ExitStack() as stack:
                yield self._open_for_reading(stack)
        except sqlite3.Error as error:
            hint = "it is begun anew at the next change" if _is_damage(error) else "run `llmc doctor`"
            raise EventLogError(f"{self.path} cannot be read: {error}", hint) from error

    def _open_for_reading(self, stack: ExitStack) -> sqlite3.Connection:
        try:
            return stack.enter_context(closing(self._connect(self.path, "mode=ro")))
        except sqlite3.OperationalError:
            # The disk is full or cannot be written to, and SQLite wants files beside this one: elsewhere it has them.
            import tempfile

            elsewhere = stack.enter_context(tempfile.TemporaryDirectory(prefix="llmc-events-"))
            for file in self.path.parent.glob(f"{self.path.name}*"):
                if file.name in (self.path.name, f"{self.path.name}-wal"):
                    shutil.copy(file, elsewhere)
            return stack.enter_context(closing(self._connect(Path(elsewhere, self.path.name), "mode=rw")))

    def _connect(self, path: Path, way: str) -> sqlite3.Connection:
        database = sqlite3.connect(f"file:{quote(str(path))}?{way}", uri=True, timeout=self._busy_seconds)
        try:
            database.execute("SELECT count(*) FROM sqlite_master")  # only now does SQLite open its files
        except sqlite3.Error:
            database.close()
            raise
        return database


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    version = _version(database)
    if version == 0:
        path.chmod(0o600)  # before there is anything in it; the files beside it inherit this
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("PRAGMA cache_size = -256")  # almost nothing is read back, and the daemon lives for weeks
    if version < len(MIGRATIONS):
        with database:
            database.execute("BEGIN IMMEDIATE")
            _migrate(database)


def _migrate(database: sqlite3.Connection) -> None:
    for version in range(_version(database), len(MIGRATIONS)):
        for statement in MIGRATIONS[version]:
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {version + 1}")


def _version(database: sqlite3.Connection) -> int:
    version = int(database.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise EventLogError("the event log was made by a newer llmc", "upgrade llmc and try again")
    return version


def _select(database: sqlite3.Connection, worker: str | None, limit: int, after_id: int) -> list[tuple[Any, ...]]:
    newest = database.execute("SELECT max(id) FROM events").fetchone()[0] or 0
    after = after_id if after_id <= newest else 0  # a smaller newest id: the log was begun anew since
    of_worker = "" if worker is None else "AND worker = :worker"
    query = f"""{_SELECT} WHERE id > :after {of_worker}
        ORDER BY id {"ASC" if after else "DESC"} LIMIT :limit"""
    return database.execute(query, {"after": after, "worker": worker, "limit": limit}).fetchall()


def _is_damage(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _DAMAGE


def _to_row(event: LoggedEvent) -> tuple[Any, ...]:
    # A name from a disk may hold bytes that are no text; SQLite would refuse the whole entry.
    texts = (str(getattr(event, name)).encode("utf-8", "backslashreplace").decode() for name in _TEXTS)
    return (event.at_unix, *texts, json.dumps(dict(event.data), default=str))


def _from_row(row: tuple[Any, ...]) -> LoggedEvent:
    at_unix, *texts, data, number = row
    named = dict(zip(_TEXTS, texts, strict=True))
    return LoggedEvent(at_unix, **named, data=MappingProxyType(json.loads(data)), id=number)
