"""`usage.db`: which answers of models were counted, their sums, and how far each file was read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from llmc.core.usage.answer import FilePlace, ModelAnswer, Tokens
from llmc.core.usage.budget import Allowance
from llmc.core.usage.prices import step_of
from llmc.core.usage.sums import UsageRow
from llmc.errors import LlmcError
from llmc.host.files import disk_error
from llmc.store.database import Database, is_damage
from llmc.values import Value

BUSY_SECS = 10.0
_COUNTS = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
_KEYS = ("task", "worker", "agent", "model", "day", "step")
_ADDED = ", ".join(f"{name} = {name} + ?" for name in _COUNTS)
TABLES = (
    (
        f"""CREATE TABLE sums (
            id INTEGER PRIMARY KEY, task TEXT, worker TEXT, agent TEXT, model TEXT, day TEXT, step INTEGER,
            {", ".join(f"{name} INTEGER DEFAULT 0" for name in _COUNTS)}, UNIQUE ({", ".join(_KEYS)}))""",
        f"""CREATE TABLE answers (
            id TEXT PRIMARY KEY, sum INTEGER, {", ".join(f"{name} INTEGER" for name in _COUNTS)}) WITHOUT ROWID""",
        """CREATE TABLE files (
            path TEXT, worker TEXT, inode INTEGER, size INTEGER, offset INTEGER, remembered TEXT,
            PRIMARY KEY (path, worker))""",
        "CREATE TABLE allowances (task TEXT PRIMARY KEY, tokens INTEGER, usd REAL)",
        "CREATE TABLE told (budget TEXT PRIMARY KEY)",
    ),
    (
        "DROP TABLE files",  # they are read once more: what is told again counts once
        """CREATE TABLE files (
            path TEXT, worker TEXT, inode INTEGER, size INTEGER, changed_ns INTEGER, offset INTEGER, ending TEXT,
            remembered TEXT, PRIMARY KEY (path, worker))""",
        "CREATE INDEX sums_by_day ON sums (day)",
        "CREATE INDEX sums_by_worker ON sums (worker)",
    ),
)
_PLACE = tuple(each.name for each in fields(FilePlace))
LONGEST_MODEL, LONGEST_ID = 200, 800
"""Who reports may say anything; an id may have the name of a model in it."""


class UsageUnusableError(LlmcError):
    """What was counted cannot be read or written."""


class Counted(Value):
    """An answer, and whose it is."""

    answer: ModelAnswer
    task: str
    worker: str
    agent: str
    day: str
    step: int | None = None
    """Of many answers that were counted elsewhere; else it is read from the one."""


class UsageStore:
    """What is damaged goes aside: what CLIs have written down is counted anew, and only their reports are lost."""

    def __init__(self, path: Path | str) -> None:
        self._database = Database(path, TABLES, busy_seconds=BUSY_SECS)
        self.path = self._database.path

    # --- reading ------------------------------------------------------------------------------------

    def rows(
        self, *, since: str = "", day: str = "", tasks: Iterable[str] | None = None, worker: str = ""
    ) -> list[UsageRow]:
        """From that day on, or of that day alone; of these tasks alone; of that worker alone."""
        wanted: list[tuple[str, list[str]]] = [("day >= ?", [since])] if since else []
        wanted += [("day = ?", [day])] if day else []
        wanted += [("worker = ?", [worker])] if worker else []
        if tasks is not None:
            named = [*tasks]
            wanted.append((f"task IN ({', '.join('?' * len(named))})", named))
        where = f" WHERE {' AND '.join(condition for condition, _ in wanted)}" if wanted else ""
        query = f"SELECT {', '.join((*_KEYS, *_COUNTS))} FROM sums{where}"
        return [_from_row(row) for row in self._select(query, [value for _, values in wanted for value in values])]

    def places(self, worker: str) -> dict[str, FilePlace]:
        query = f"SELECT path, {', '.join(_PLACE)} FROM files WHERE worker = ?"
        return {path: FilePlace(*place) for path, *place in self._select(query, [worker])}

    def allowance(self, task: str) -> Allowance:
        found = self._select("SELECT tokens, usd FROM allowances WHERE task = ?", [task])
        return Allowance(*found[0]) if found else Allowance()

    def _select(self, query: str, values: list[str]) -> list[tuple[Any, ...]]:
        with self._in_words(), self._database.reading() as connection:
            return connection.execute(query, values).fetchall() if connection is not None else []

    # --- writing ------------------------------------------------------------------------------------

    def count(self, worker: str, answers: Iterable[Counted], places: dict[str, FilePlace]) -> bool:
        """Both or none: how far files were read, and what was in them. Whether anything was new."""
        changed = False
        with self._writing() as connection:
            for each in answers:
                changed |= _count(connection, each)
            for path, place in places.items():
                row = (_text(path), worker, *(getattr(place, name) for name in _PLACE))
                connection.execute(f"INSERT OR REPLACE INTO files VALUES ({', '.join('?' * len(row))})", row)
        return changed

    def allow(self, task: str, allowance: Allowance) -> None:
        with self._writing() as connection:
            row = (task, allowance.tokens, allowance.usd)
            connection.execute("INSERT OR REPLACE INTO allowances VALUES (?, ?, ?)", row)

    def tell_once(self, keys: Iterable[str]) -> list[str]:
        """Those that nobody was told of before; from now on, they were."""
        with self._writing() as connection:
            insert = "INSERT OR IGNORE INTO told VALUES (?)"
            return [key for key in keys if connection.execute(insert, (key,)).rowcount]

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._in_words(), self._database.writing() as connection:
            yield connection

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            self.close()
            if is_damage(error):
                aside = self._database.set_aside()
                raise UsageUnusableError(
                    f"{self.path} is damaged; it was set aside as {aside}", "try again: files are counted anew"
                ) from error
            raise UsageUnusableError(f"{self.path} cannot be used: {error}", "run `llmc doctor`") from error
        except OSError as error:
            self.close()
            raise disk_error(self.path, error) from error


@cache
def usage_store(path: str) -> UsageStore:
    """One of each root, with one connection."""
    return UsageStore(path)


def _count(connection: sqlite3.Connection, each: Counted) -> bool:
    """One that is known already may have been told before its end: what has grown since is added. That is for the
    worker to tell whose it is: others have copies, and may not charge anything to it.
    """
    query = f"SELECT sum, {', '.join(_COUNTS)} FROM answers WHERE id = ?"
    name = _text(each.answer.id)[:LONGEST_ID]
    known = connection.execute(query, (name,)).fetchone()
    if known is not None and not _is_of(connection, known[0], each.worker):
        return False
    now = _counts(each.answer.tokens)
    if known is None:
        number, before = _sum_of(connection, each), (0,) * len(_COUNTS)
    else:
        number, *before = known
    most = [max(pair) for pair in zip(now, before, strict=True)]
    more = [total - had for total, had in zip(most, before, strict=True)]
    if known is not None and not any(more):
        return False
    connection.execute(f"INSERT OR REPLACE INTO answers VALUES (?, ?{', ?' * len(_COUNTS)})", (name, number, *most))
    connection.execute(f"UPDATE sums SET {_ADDED} WHERE id = ?", (*more, number))
    return True


def _is_of(connection: sqlite3.Connection, number: int, worker: str) -> bool:
    return bool(connection.execute("SELECT worker = ? FROM sums WHERE id = ?", (worker, number)).fetchone()[0])


def _sum_of(connection: sqlite3.Connection, each: Counted) -> int:
    model, prompt = _text(each.answer.model)[:LONGEST_MODEL], each.answer.tokens.prompt
    step = step_of(prompt) if each.step is None else each.step
    key = (each.task, each.worker, each.agent, model, each.day, step)
    connection.execute(f"INSERT OR IGNORE INTO sums ({', '.join(_KEYS)}) VALUES (?, ?, ?, ?, ?, ?)", key)
    where = " AND ".join(f"{name} = ?" for name in _KEYS)
    return int(connection.execute(f"SELECT id FROM sums WHERE {where}", key).fetchone()[0])


def _from_row(row: tuple[Any, ...]) -> UsageRow:
    values: tuple[Any, ...] = (*row[: len(_KEYS)], Tokens(*row[len(_KEYS) :]))
    return UsageRow(*values)


def _counts(tokens: Tokens) -> tuple[int, ...]:
    return tokens.input, tokens.output, tokens.cache_read, tokens.cache_write, tokens.cache_write_1h


def _text(text: str) -> str:
    """Paths and what agents say may hold halves of characters, which no database takes."""
    return text.encode("utf-8", "replace").decode("utf-8")
