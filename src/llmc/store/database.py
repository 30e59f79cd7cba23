"""A SQLite database of a root: opened with care, brought to the present version, one writer at a time."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from llmc.errors import LlmcError
from llmc.host.files import stand_aside
from llmc.host.locks import FileLock

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

Migrations = tuple[tuple[str, ...], ...]
"""The statements at index N bring a database of version N to the next one."""


class NewerDatabaseError(LlmcError):
    """It was written by a version that knows more than this one."""


class Database:
    """One connection, kept for the next time. A writer waits `busy_seconds` at most for another one."""

    def __init__(self, path: Path | str, migrations: Migrations, *, busy_seconds: float, durable: bool = False) -> None:
        """With `durable` what was written survives a power cut, too."""
        self.path = Path(path).absolute()
        self._migrations = migrations
        self._busy_seconds = busy_seconds
        self._durable = durable
        self._connection: sqlite3.Connection | None = None
        self._file: os.stat_result | None = None
        self._one_at_a_time = threading.RLock()  # the daemon looks after several workers at once

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All of it is kept, or nothing."""
        with self._one_at_a_time, self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """None when there is nothing yet. Changes nothing, and works where nothing can be written."""
        if not _is_there(self.path):
            yield None
            return
        with ExitStack() as stack:
            connection = self._open_for_reading(stack)
            yield connection if self._version(connection) else None

    def set_aside(self) -> str | None:
        """Under another name, which is returned; the next writer begins a new one. None when somebody else did."""
        self._file = self._file or _status(self.path)
        self.close()
        aside = f"{self.path.name}.corrupt-{time.time_ns()}"
        with self._names_lock():
            if not self._is_current():
                return None
            for suffix in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    Path(f"{self.path}{suffix}").rename(self.path.with_name(aside + suffix))
        return aside

    def close(self) -> None:
        with self._one_at_a_time:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None or not self._is_current():
            self.close()
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._names_lock():
                stand_aside(self.path)  # SQLite would follow a link
                self._connection = sqlite3.connect(
                    self.path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
                )
                self._file = _status(self.path)
                self._prepare(self._connection)
        return self._connection

    def _names_lock(self) -> FileLock:
        """The database is three files. Nobody may open them while they are being renamed: the parts would mix."""
        return FileLock(self.path.with_name(f".{self.path.name}.lock"), name=self.path.name, timeout=self._busy_seconds)

    def _is_current(self) -> bool:
        """Whether the file was neither removed nor set aside by another process since it was opened."""
        now = _status(self.path)
        return self._file is not None and now is not None and os.path.samestat(self._file, now)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = self._version(connection)
        if version == 0:
            self.path.chmod(0o600)  # before there is anything in it; the files beside it inherit this
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
        connection.execute("PRAGMA cache_size = -256")  # little is read back, and the daemon lives for weeks
        if version < len(self._migrations):
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                self._migrate(connection)

    def _migrate(self, connection: sqlite3.Connection) -> None:
        for version in range(self._version(connection), len(self._migrations)):
            for statement in self._migrations[version]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version + 1}")

    def _version(self, connection: sqlite3.Connection) -> int:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > len(self._migrations):
            raise NewerDatabaseError(f"{self.path.name} was made by a newer llmc", "upgrade llmc and try again")
        return version

    def _open_for_reading(self, stack: ExitStack) -> sqlite3.Connection:
        try:
            return stack.enter_context(closing(self._connect(self.path, "mode=ro")))
        except sqlite3.OperationalError:
            # The disk is full or cannot be written to, and SQLite wants files beside this one: elsewhere it has them.
            import tempfile

            elsewhere = stack.enter_context(tempfile.TemporaryDirectory(prefix="llmc-read-"))
            for file in self.path.parent.glob(f"{self.path.name}*"):
                if file.name in (self.path.name, f"{self.path.name}-wal"):
                    shutil.copy(file, elsewhere)
            return stack.enter_context(closing(self._connect(Path(elsewhere, self.path.name), "mode=rw")))

    def _connect(self, path: Path, way: str) -> sqlite3.Connection:
        connection = sqlite3.connect(f"file:{quote(str(path))}?{way}", uri=True, timeout=self._busy_seconds)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master")  # only now does SQLite open its files
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _is_there(path: Path) -> bool:
    """Links are not followed and pipes not read: whoever writes next sets them aside."""
    status = _status(path)
    return status is not None and (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode))


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def is_damage(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _DAMAGE
