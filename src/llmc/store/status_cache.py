"""What is known of every terminal, for whoever wants to read it without asking anybody.

`.workers/ID/status.json` has what is known now, `.workers/status.db` the same for all of them and what was before.
Both can be made anew at any time. A cache that cannot be written is no reason to stop watching: the complaint is
handed on, and what is missing is written the next time.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock
from typing import Any, Protocol
from urllib.parse import quote

from llmc.core.screen.assessment import Assessment, TerminalStatus
from llmc.errors import LlmcError
from llmc.host.files import is_own_directory, make_own_directory, stand_aside, write_atomically
from llmc.root import Root
from llmc.store.terminals import RECORD

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS ptys (
        id TEXT PRIMARY KEY, tmux_session TEXT, tmux_window TEXT, cwd TEXT, cli_type TEXT)""",
    """CREATE TABLE IF NOT EXISTS status (
        id TEXT PRIMARY KEY REFERENCES ptys(id), state TEXT, summary TEXT, actions_needed TEXT,
        last_snapshot_hash TEXT, last_change_ts INTEGER, last_polled_ts INTEGER, stable_count INTEGER)""",
    "CREATE TABLE IF NOT EXISTS status_history (id TEXT, ts INTEGER, state TEXT, summary TEXT)",
    "CREATE INDEX IF NOT EXISTS history_of_pty ON status_history (id, ts)",
)
NAME = "status.db"
STATUS = "status.json"
BUSY_SECS = 0.2
"""A database that somebody else keeps locked must not keep the watcher from looking."""
HISTORY_KEPT = 200
MOST_PENDING = 1000
UNKEPT = frozenset(("busy_since_unix", "worked", "guess"))
"""The watcher's own: of no use to anybody else, and not for the next watcher."""
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class Complaints(Protocol):
    """Whoever hears what is wrong, once, and when it is right again."""

    def complain(self, about: str, text: str, /) -> object: ...

    def settled(self, about: str, /) -> None: ...


class Silence:
    """For whoever only reads, or forgets: what is not written now is written by the next watcher."""

    def complain(self, about: str, text: str, /) -> None: ...

    def settled(self, about: str, /) -> None: ...


class CacheUnreadableError(LlmcError):
    """The cache cannot be read now."""


class StatusCache:
    """Several threads may write: one looks, another forgets."""

    def __init__(self, directory: str, complaints: Complaints) -> None:
        self.directory = Path(directory)
        self.path = self.directory / NAME
        self._complaints = complaints
        self._database: sqlite3.Connection | None = None
        self._pending: list[tuple[str, tuple[Any, ...]]] = []
        self._writing = Lock()

    def write(self, statuses: Iterable[TerminalStatus], moved: frozenset[str] = frozenset()) -> None:
        """`moved` are those whose state is another one than before: for the history."""
        rows: list[tuple[str, tuple[Any, ...]]] = []
        for status in statuses:
            self._write_file(status)
            rows += _rows(status, is_new=status["id"] in moved)
        self._add(rows)

    def polled(self, names: Iterable[str], at: float) -> None:
        """They were looked at and are as before."""
        self._add([("UPDATE status SET last_polled_ts = ? WHERE id = ?", (int(at), name)) for name in names])

    def forget(self, names: Iterable[str]) -> None:
        tables = ("status_history", "status", "ptys")
        self._add([(f"DELETE FROM {table} WHERE id = ?", (name,)) for name in names for table in tables])

    def known(self) -> list[str]:
        return [row[0] for row in self._read("SELECT id FROM ptys", ())]

    def history(self, name: str, *, limit: int, after: int = 0) -> list[tuple[int, Assessment]]:
        """The last entries, or the next ones after that number; each with its number, oldest first."""
        order = "ASC" if after else "DESC"
        rows = self._read(
            f"SELECT rowid, ts, state, summary FROM status_history WHERE id = ? AND rowid > ? "
            f"ORDER BY rowid {order} LIMIT ?",
            (name, after, limit),
        )
        return [(row[0], Assessment(at_unix=row[1], state=row[2], summary=row[3])) for row in sorted(rows)]

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
        self._database = None

    def _write_file(self, status: TerminalStatus) -> None:
        try:
            directory = self.directory / status["id"]
            make_own_directory(str(self.directory))
            make_own_directory(str(directory))
            write_atomically(directory / STATUS, json.dumps(_kept(status), indent=1))
        except OSError as error:
            name = status["id"]
            self._complaints.complain(f"status of {name}", f"{name}: its status.json was not written: {error.strerror}")

    def _add(self, rows: list[tuple[str, tuple[Any, ...]]]) -> None:
        with self._writing:
            self._pending += rows
            if self._pending:
                self._flush()

    def _flush(self) -> None:
        del self._pending[:-MOST_PENDING]
        try:
            self._write_rows()
        except (sqlite3.Error, OSError) as error:
            self.close()
            if _is_damage(error):
                self._begin_anew()
            self._complaints.complain(NAME, f"{NAME} was not written: {error}; it is tried again with the next change")
        else:
            self._pending.clear()
            self._complaints.settled(NAME)

    def _write_rows(self) -> None:
        if not self.path.exists():
            self.close()  # somebody has removed it under us
        database = self._open()
        with database:
            database.execute("BEGIN IMMEDIATE")
            for statement, values in self._pending:
                database.execute(statement, values)

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            make_own_directory(str(self.directory))
            stand_aside(self.path)  # SQLite would follow a link
            database = sqlite3.connect(self.path, timeout=BUSY_SECS, isolation_level=None, check_same_thread=False)
            try:
                self.path.chmod(0o600)
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = NORMAL")
                database.execute("PRAGMA cache_size = -256")  # it is written far more often than read
                for statement in SCHEMA:
                    database.execute(statement)
            except BaseException:
                database.close()
                raise
            self._database = database
        return self._database

    def _begin_anew(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(f"{self.path}{suffix}")

    def _read(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        if not self.path.exists():
            return []
        address = f"file:{quote(str(self.path))}?mode=ro"
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECS)) as database:
                return database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise CacheUnreadableError(
                f"{self.path} cannot be read: {error}", "try again; a watcher (`llmc pty watch`) makes it anew"
            ) from error


def news_in(status: TerminalStatus) -> dict[str, Any]:
    """All but the counting of looks that found nothing new."""
    count = 0 if status["screen"]["lasting"] else status["stable_count"]
    return {**_kept(status), "last_polled_unix": 0.0, "stable_count": count}


def _kept(status: TerminalStatus) -> dict[str, Any]:
    return {key: value for key, value in status.items() if key not in UNKEPT}


def forget_status(root: Root, cache: StatusCache, names: Iterable[str]) -> None:
    """A terminal that went away leaves nothing behind."""
    gone = sorted(names) if is_own_directory(root.terminals) else []  # through a link they would be somebody else's
    for name in gone:
        shutil.rmtree(root.terminal(name), ignore_errors=True)
    if gone:
        cache.forget(gone)


def forget_ended(root: Root, cache: StatusCache, workers: Iterable[str]) -> None:
    """What was last seen of workers whose session has ended."""
    forget_status(
        root, cache, [name for name in workers if os.path.isdir(root.terminal(name)) and not _has_record(root, name)]
    )


def sweep(root: Root, cache: StatusCache) -> None:
    """Removes what an earlier watcher wrote and what belongs to neither a terminal nor a worker now."""
    with suppress(FileNotFoundError):
        names = [path.parent.name for path in Path(root.terminals).glob(f"*/{STATUS}")]
        forget_status(root, cache, [name for name in names if not _belongs(root, name)])
    with suppress(CacheUnreadableError):
        cache.forget([name for name in cache.known() if not os.path.isdir(root.terminal(name))])


def _belongs(root: Root, name: str) -> bool:
    return _has_record(root, name) or os.path.isdir(root.worktree(name))


def _has_record(root: Root, name: str) -> bool:
    return os.path.exists(os.path.join(root.terminal(name), RECORD))


def _rows(status: TerminalStatus, *, is_new: bool) -> list[tuple[str, tuple[Any, ...]]]:
    name, state, summary = status["id"], status["state"], _text(status["summary"])
    place = (status["tmux_session"], status["tmux_window"], _text(status["cwd"]), status["cli_type"])
    looks = (int(status["last_change_unix"]), int(status["last_polled_unix"]), status["stable_count"])
    actions = json.dumps(status["actions_needed"])
    rows: list[tuple[str, tuple[Any, ...]]] = [
        ("INSERT OR REPLACE INTO ptys VALUES (?, ?, ?, ?, ?)", (name, *place)),
        (
            "INSERT OR REPLACE INTO status VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (name, state, summary, actions, status["last_snapshot_hash"], *looks),
        ),
    ]
    if is_new:
        entry = (name, int(status["since_unix"]), state, summary)
        rows.append(("INSERT INTO status_history VALUES (?, ?, ?, ?)", entry))
        rows.append(
            (
                "DELETE FROM status_history WHERE id = ? AND rowid <= (SELECT rowid FROM status_history WHERE id = ? "
                "ORDER BY rowid DESC LIMIT 1 OFFSET ?)",
                (name, name, HISTORY_KEPT),
            )
        )
    return rows


def _text(text: str) -> str:
    """SQLite refuses what is no text."""
    return text.encode("utf-8", "backslashreplace").decode()


def _is_damage(error: BaseException) -> bool:
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in DAMAGE
