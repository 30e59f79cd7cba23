"""`tasks.db`: tasks and all that belongs to them. What is in here is nowhere else: it is never begun anew."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from llmc.errors import LlmcError
from llmc.host.files import disk_error
from llmc.store.database import Database, is_damage

BUSY_SECS = 10.0
TABLES = (
    (
        """CREATE TABLE tasks (
            number INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT, title TEXT, created_at_unix REAL, priority INTEGER,
            after TEXT, worker TEXT, agent TEXT, machine TEXT, touches TEXT, auto_accept INTEGER, standing TEXT,
            reason TEXT, failure TEXT, landed_sha TEXT, attempts INTEGER, given_to TEXT, avoid TEXT, retried INTEGER,
            more TEXT)""",
        "CREATE INDEX tasks_by_standing ON tasks (standing, priority DESC, number)",
        "CREATE INDEX tasks_given ON tasks (given_to) WHERE given_to != ''",
        """CREATE TABLE history (
            id INTEGER PRIMARY KEY, task INTEGER, at_unix REAL, kind TEXT, worker TEXT, detail TEXT, data TEXT)""",
        "CREATE INDEX history_of_task ON history (task, id)",
        """CREATE TABLE train (
            id INTEGER PRIMARY KEY AUTOINCREMENT, position INTEGER, worker TEXT, task TEXT, at_unix REAL, message TEXT,
            changed INTEGER, tree TEXT, auto INTEGER, ordered INTEGER, state TEXT, detail TEXT, result TEXT,
            over_at_unix REAL)""",
        "CREATE TABLE train_pause (is_on INTEGER)",
        """CREATE TABLE checks (
            tree TEXT, command TEXT, passed INTEGER, output TEXT, secs REAL, at_unix REAL, problem TEXT,
            PRIMARY KEY (tree, command))""",
        "CREATE INDEX checks_by_age ON checks (at_unix)",
        """CREATE TABLE comments (
            worker TEXT, task TEXT, number INTEGER, path TEXT, line INTEGER, end_line INTEGER, quoted TEXT,
            commit_sha TEXT, base_sha TEXT, text TEXT, at_unix REAL, round INTEGER,
            PRIMARY KEY (worker, task, number))""",
        """CREATE TABLE rounds (
            worker TEXT, task TEXT, number INTEGER, message TEXT, commit_sha TEXT, base_sha TEXT, at_unix REAL,
            outcome TEXT, PRIMARY KEY (worker, task, number))""",
    ),
    (
        "ALTER TABLE tasks ADD COLUMN parent TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE tasks ADD COLUMN asked_by TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE tasks ADD COLUMN request_id TEXT NOT NULL DEFAULT ''",
        "CREATE UNIQUE INDEX tasks_by_request ON tasks (asked_by, request_id) WHERE request_id != ''",
        "CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent != ''",
        "ALTER TABLE tasks ADD COLUMN given_on TEXT DEFAULT ''",
        "ALTER TABLE tasks ADD COLUMN request TEXT DEFAULT ''",
        """CREATE TABLE landings_there (
            machine TEXT, worker TEXT, task TEXT, sha TEXT, head TEXT, message TEXT, reviewed INTEGER,
            PRIMARY KEY (machine, worker))""",
    ),
)


class TasksUnusableError(LlmcError):
    """The database of tasks cannot be read or written; nothing was changed."""


class TasksFullError(TasksUnusableError):
    """There is no room for what was to be written."""


class TaskDatabase:
    """What SQLite or the disk refuses is said in words."""

    def __init__(self, path: Path | str, *, busy_seconds: float = BUSY_SECS) -> None:
        self._database = Database(path, TABLES, busy_seconds=busy_seconds, durable=True)
        self.path = self._database.path

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All of it is kept, or nothing."""
        with self._in_words():
            _require_file(self.path)
            with self._database.writing() as connection:
                yield connection

    def require_usable(self) -> None:
        """Before something that cannot be taken back, and that has to be kept here then."""
        with self.writing():
            pass

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """None while there are no tasks yet."""
        with self._in_words():
            _require_file(self.path)
            with self._database.reading() as connection:
                yield connection

    def set_aside(self) -> str | None:
        """Under another name, which is returned: only a person who agrees to it does that."""
        return self._database.set_aside()

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            self.close()
            kind = TasksFullError if _is_full(error) else TasksUnusableError
            raise kind(f"{self.path} cannot be used: {error}", _hint(error)) from error
        except OSError as error:
            self.close()
            raise disk_error(self.path, error) from error


def _require_file(path: Path) -> None:
    """A link leads elsewhere, a pipe to nobody: neither is followed, and no new database begins in their place."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        found = "a link" if stat.S_ISLNK(mode) else "a directory" if stat.S_ISDIR(mode) else "not a file"
        raise TasksUnusableError(
            f"{path} cannot be used: it is {found}",
            "put the file itself there, or `llmc doctor --repair` sets that aside and begins a new one",
        )


def _hint(error: sqlite3.Error) -> str:
    if is_damage(error):
        return "`llmc doctor --repair` sets it aside and begins a new one"
    if "locked" in str(error):
        return "another program holds it: end that, then try again; nothing was changed"
    if _is_full(error):
        return "make room on the disk, then try again; nothing was changed"
    return "run `llmc doctor`; nothing was changed"


def _is_full(error: sqlite3.Error) -> bool:
    return "full" in str(error) or "disk I/O" in str(error)
