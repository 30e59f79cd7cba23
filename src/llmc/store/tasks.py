"""The tasks in `tasks.db`, and the history of each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from llmc.core.tasks.changes import TaskChange
from llmc.core.tasks.delegation import DelegationBounds, same_request
from llmc.core.tasks.ending import TaskEnd
from llmc.core.tasks.task import Standing, Task, number_of
from llmc.errors import LlmcError
from llmc.host.files import disk_errors, make_own_directory, write_atomically
from llmc.model import Json
from llmc.store.task_database import TaskDatabase
from llmc.store.train import TrainStore
from llmc.values import Value

_COLUMNS = tuple(each.name for each in fields(Task) if each.name != "id")
_STANDINGS = {each.value: each for each in Standing}
_LISTS = frozenset(("after", "touches"))
_SELECT = f"SELECT number, {', '.join(_COLUMNS)} FROM tasks"
_OPEN = ("queued", "held", "failed")
_WITHOUT_TEXT = _SELECT.replace(" text,", " '',").replace(" more ", " '' ")
_BY_REQUEST = f"{_SELECT} WHERE asked_by = ? AND request_id = ?"
_DELEGATED = "SELECT count(*) FROM tasks WHERE asked_by = ? AND parent = ?"
_FIRST = f"{_WITHOUT_TEXT} WHERE standing = ? AND given_to = '' ORDER BY priority DESC, number LIMIT ?"
SHOWN_IN_STATUS = 100
"""Tasks that `llmc status` knows by name; more of them are only counted."""


class UnknownTaskError(LlmcError):
    """There is no task of that id."""


class TaskEvent(Value):
    """One entry of a task's history."""

    at_unix: float
    kind: str
    worker: str = ""
    detail: str = ""
    data: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))


class TaskStore:
    """`mark` is a small file for whoever only looks: what waits, for `llmc status` and as a signal of every change."""

    def __init__(self, path: Path | str, mark: Path | str) -> None:
        self.database = TaskDatabase(path)
        self._mark = Path(mark)
        self.train = TrainStore(self.database, self._mark.with_name("train.json"))

    # --- reading ------------------------------------------------------------------------------------

    def task(self, task_id: str) -> Task:
        number = number_of(task_id)
        found = self._select("WHERE number = ?", number) if number is not None else []
        if not found:
            raise UnknownTaskError(f"there is no task {task_id!r}", "`llmc task list --all` has them all")
        return found[0]

    def queued(self) -> list[Task]:
        """In the order in which they are given out, without their texts: there may be thousands."""
        return self._select("WHERE standing = 'queued' ORDER BY priority DESC, number", select=_WITHOUT_TEXT)

    def named(self, task_ids: Iterable[str]) -> dict[str, Task]:
        """Those of these ids that there are, without their texts."""
        numbers = {number for each in task_ids if (number := number_of(each)) is not None}
        if not numbers:
            return {}
        found = self._select(f"WHERE number IN ({', '.join(map(str, sorted(numbers)))})", select=_WITHOUT_TEXT)
        return {task.id: task for task in found}

    def parents(self) -> dict[str, str]:
        """Of the tasks that were delegated for another one: which one that is."""
        with self.database.reading() as connection:
            query = "SELECT number, parent FROM tasks WHERE parent != ''"
            rows = connection.execute(query).fetchall() if connection is not None else []
        return {f"t{number}": parent for number, parent in rows}

    def failed(self, *failures: str) -> list[Task]:
        """Those that no worker has any more for one of these reasons."""
        marks = ", ".join("?" * len(failures))
        return self._select(f"WHERE standing = 'failed' AND failure IN ({marks}) ORDER BY number", *failures)

    def all(self, *, ended: bool = True) -> list[Task]:
        """Without `ended`, those that may still be given out, or are at a worker."""
        return self._select("ORDER BY number" if ended else f"WHERE standing IN {_OPEN} ORDER BY number")

    def history(self, task_id: str) -> list[TaskEvent]:
        query = "SELECT at_unix, kind, worker, detail, data FROM history WHERE task = ? ORDER BY id"
        with self.database.reading() as connection:
            rows = connection.execute(query, (number_of(task_id),)).fetchall() if connection is not None else []
        return [
            TaskEvent(at, kind, worker, detail, MappingProxyType(json.loads(data)))
            for at, kind, worker, detail, data in rows
        ]

    def given_at(self, task_id: str, worker: str) -> float | None:
        """When the worker was given the task, the last time."""
        query = "SELECT max(at_unix) FROM history WHERE task = ? AND kind = 'given' AND worker = ?"
        with self.database.reading() as connection:
            found = connection.execute(query, (number_of(task_id), worker)).fetchone() if connection else None
        return found[0] if found else None

    def given_to(self, worker: str) -> list[tuple[float, str]]:
        """Since when the worker has had which task, oldest first; an empty one for none."""
        ends = ", ".join(f"'{standing.value}'" for standing in Standing)
        query = f"SELECT at_unix, task, kind FROM history WHERE worker = ? AND kind IN ('given', {ends}) ORDER BY id"
        with self.database.reading() as connection:
            rows = connection.execute(query, (worker,)).fetchall() if connection is not None else []
        return [(at, f"t{task}" if kind == "given" else "") for at, task, kind in rows]

    def _select(self, where: str, *values: object, select: str = _SELECT) -> list[Task]:
        with self.database.reading() as connection:
            rows = connection.execute(f"{select} {where}", values).fetchall() if connection is not None else []
        return [_from_row(row) for row in rows]

    # --- writing ------------------------------------------------------------------------------------

    def add(self, *tasks: Task, at: float, above: int = 0, kind: str = "added") -> list[Task]:
        """All of them or none; each with the id that it was given, greater than `above`. `kind`: for their history."""
        return self.add_numbered(lambda first: tasks, at=at, above=above, kind=kind)

    def add_numbered(
        self, make: Callable[[int], Sequence[Task]], *, at: float, above: int = 0, kind: str = "added"
    ) -> list[Task]:
        """The same of tasks that name each other: `make` is told the number that the first of them gets."""
        added = []
        with self.database.writing() as connection:
            for task in make(_next_number(connection, above)):
                number = connection.execute(_insert("tasks", _COLUMNS), _to_row(task)).lastrowid
                added.append(replace(task, id=f"t{number}"))
                _note(connection, number, TaskEvent(at, kind, detail=task.title))
        self._tell()
        return added

    def delegate(self, task: Task, bounds: DelegationBounds, *, at: float, above: int = 0) -> Task:
        """The task with its id, once for each name of a request: asked again, the one that was made first.

        Raises where its worker has delegated as much as it may.
        """
        with self.database.writing() as connection:
            known = (
                connection.execute(_BY_REQUEST, (task.asked_by, task.request_id)).fetchone()
                if task.request_id
                else None
            )
            if known is not None:
                return same_request(_from_row(known), task)
            if task.asked_by:
                open_only = "" if task.parent else f"AND standing IN {_OPEN}"
                count = connection.execute(f"{_DELEGATED} {open_only}", (task.asked_by, task.parent)).fetchone()[0]
                bounds.check(depth=_depth(connection, task.parent), count=count)
            _next_number(connection, above)
            number = connection.execute(_insert("tasks", _COLUMNS), _to_row(task)).lastrowid
            _note(connection, number, TaskEvent(at, "added", detail=task.title, data={"asked_by": task.asked_by}))
        self._tell()
        return replace(task, id=f"t{number}")

    def take_over(self, tasks: Iterable[Task], at: float) -> list[str]:
        """Those of these that are not there, under the ids that they have."""
        taken = []
        insert = _insert("tasks", ("number", *_COLUMNS)).replace("INSERT", "INSERT OR IGNORE")
        with self.database.writing() as connection:
            for task in tasks:
                if connection.execute(insert, (number_of(task.id), *_to_row(task))).rowcount:
                    taken.append(task.id)
                    _note(connection, number_of(task.id), TaskEvent(at, "taken over", task.given_to, "from the record"))
        self._tell()
        return taken

    def change(self, task_id: str, event: TaskEvent, **changes: object) -> None:
        """Fields of a task, and why, in one go."""
        self.task(task_id)
        self.change_all({task_id: TaskChange(event.kind, event.detail, changes)}, event.at_unix, event.worker)

    def change_all(self, changes: Mapping[str, TaskChange], at: float, worker: str = "") -> None:
        """All of them, or none."""
        with self.database.writing() as connection:
            for task_id, change in changes.items():
                _update(connection, number_of(task_id), change.fields)
                _note(connection, number_of(task_id), TaskEvent(at, change.kind, worker, change.detail))
        self._tell()

    def explain(self, waiting: Mapping[str, str]) -> None:
        """Keeps what tasks wait for, for whoever only looks. No part of their history."""
        query = "UPDATE tasks SET reason = ? WHERE number = ? AND standing = 'queued' AND given_to = '' AND reason != ?"
        with self.database.writing() as connection:
            before = connection.total_changes
            connection.executemany(query, [(why, number_of(each), why) for each, why in waiting.items()])
            changed = connection.total_changes != before
        if changed:
            self._tell()

    def note(self, task_id: str, event: TaskEvent) -> None:
        """Something of its history that changes nothing else."""
        with self.database.writing() as connection:
            _note(connection, number_of(task_id), event)

    def of_request(self, request: str) -> Task | None:
        """The attempt that a hub has asked for under this name."""
        return next(iter(self._select("WHERE request = ?", request)), None)

    def placed_on(self, machine: str) -> list[Task]:
        """Those whose present attempt is at a worker of that machine."""
        return self._select("WHERE given_on = ? AND given_to != ''", machine)

    def place(self, task_id: str, worker: str, machine: str, request: str, at: float) -> bool:
        """Sets it apart for that worker, whose machine is asked next. False when somebody else was quicker."""
        with self.database.writing() as connection:
            placed = connection.execute(
                "UPDATE tasks SET given_to = ?, given_on = ?, request = ?, reason = ''"
                " WHERE number = ? AND given_to = '' AND standing = 'queued'",
                (worker, machine, request, number_of(task_id)),
            ).rowcount
            if placed:
                _note(connection, number_of(task_id), TaskEvent(at, "placed", worker, f"on {machine}"))
        self._tell()
        return bool(placed)

    def unplace(self, task_id: str, request: str, why: str, at: float) -> None:
        """The machine has not taken it, and will not under this name."""
        with self.database.writing() as connection:
            if connection.execute(
                "UPDATE tasks SET given_to = '', given_on = '', request = '' WHERE number = ? AND request = ?",
                (number_of(task_id), request),
            ).rowcount:
                _note(connection, number_of(task_id), TaskEvent(at, "not taken", "", why))
        self._tell()

    def began_there(self, task: Task, attempt: int, at: float) -> None:
        """Its machine says that its worker has it. Heard several times, the attempt counts once."""
        with self.database.writing() as connection:
            if connection.execute(
                "UPDATE tasks SET attempts = ?, avoid = '', failure = '', reason = ''"
                " WHERE number = ? AND request = ? AND attempts < ?",
                (attempt, number_of(task.id), task.request, attempt),
            ).rowcount:
                _note(connection, number_of(task.id), TaskEvent(at, "given", task.given_to, f"on {task.given_on}"))
        self._tell()

    def began(self, task_id: str, worker: str, at: float) -> None:
        """The worker's record names the task now."""
        with self.database.writing() as connection:
            connection.execute(
                "UPDATE tasks SET given_to = ?, attempts = attempts + 1, standing = 'queued', avoid = '', failure = '',"
                " reason = '' WHERE number = ?",
                (worker, number_of(task_id)),
            )
            _note(connection, number_of(task_id), TaskEvent(at, "given", worker))
        self._tell()

    def ended(self, task_id: str, worker: str, end: TaskEnd, at: float) -> None:
        """The worker's record is about to name it no longer. Told twice, after a crash, it ends once.

        An attempt whose beginning was not kept is counted now.
        """
        with self.database.writing() as connection:
            told = connection.execute(
                "UPDATE tasks SET attempts = attempts + (given_to = ''), given_to = '', given_on = '', request = '',"
                " standing = ?, reason = ?,"
                " failure = ?, landed_sha = ?, avoid = ? WHERE number = ?"
                " AND NOT (given_to = '' AND standing = ? AND avoid = ? AND landed_sha IS ?)",
                (
                    *(end.standing.value, end.reason, end.failure, end.landed_sha, worker, number_of(task_id)),
                    *(end.standing.value, worker, end.landed_sha),
                ),
            ).rowcount
            if told:
                event = TaskEvent(at, end.standing.value, worker, end.reason, end.data)
                _note(connection, number_of(task_id), event)
            _forget_review(connection, worker, number_of(task_id), at)
        self._tell()

    def ended_without_task(self, worker: str, at: float) -> None:
        """The work of nobody's task is over, and what was said about it."""
        if self.database.path.exists():
            with self.database.writing() as connection:
                _forget_review(connection, worker, None, at)

    def _tell(self) -> None:
        """A cache: whoever finds it gone or old makes it anew with the next change."""
        with self.database.reading() as connection:
            if connection is None:
                return
            waiting = [row for standing in _OPEN for row in connection.execute(_FIRST, (standing, SHOWN_IN_STATUS))]
            given = connection.execute(f"{_WITHOUT_TEXT} WHERE given_to != ''").fetchall()
            counts = dict(connection.execute("SELECT standing, count(*) FROM tasks GROUP BY standing").fetchall())
        document = {"schema": 1, "counts": counts, "open": [*map(_told, waiting[:SHOWN_IN_STATUS])]}
        document |= {"given": [*map(_told, given)]}
        with disk_errors(self._mark):
            make_own_directory(str(self._mark.parent))
            write_atomically(self._mark, json.dumps(document))


def _depth(connection: sqlite3.Connection, parent: str) -> int:
    """Of a task that is delegated for this one: how many before it were delegated themselves, and it."""
    depth, seen = 1, {""}
    while parent not in seen:
        seen.add(parent)
        row = connection.execute("SELECT parent, asked_by FROM tasks WHERE number = ?", (number_of(parent),)).fetchone()
        parent, asked_by = row if row is not None else ("", "")
        depth += bool(asked_by)
    return depth


def _told(row: tuple[Any, ...]) -> dict[str, Json]:
    task = _from_row(row)
    shown = {"id": task.id, "title": task.title, "state": task.standing.value, "given_to": task.given_to}
    shown |= {"machine": task.given_on, "request": task.request}
    return {**shown, "priority": task.priority, "after": list(task.after), "reason": task.reason}


def _insert(table: str, columns: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _note(connection: sqlite3.Connection, number: int | None, event: TaskEvent) -> None:
    row = (number, event.at_unix, event.kind, event.worker, event.detail, json.dumps(dict(event.data), default=str))
    connection.execute(_insert("history", ("task", "at_unix", "kind", "worker", "detail", "data")), row)


def _forget_review(connection: sqlite3.Connection, worker: str, number: int | None, at: float) -> None:
    """Comments are about work that is there. What was sent is in the history; what was not goes there now."""
    query = "SELECT path, line, end_line, quoted, text FROM comments WHERE worker = ? AND round = 0 ORDER BY number"
    unsent: list[Json] = [
        {"path": path, "line": line, "end_line": end_line, "quoted": json.loads(quoted), "text": text}
        for path, line, end_line, quoted, text in connection.execute(query, (worker,))
    ]
    if unsent and number is not None:
        data = MappingProxyType({"comments": unsent})
        _note(connection, number, TaskEvent(at, "comments", worker, "comments that were never sent", data))
    for table in ("comments", "rounds"):
        connection.execute(f"DELETE FROM {table} WHERE worker = ?", (worker,))


def _next_number(connection: sqlite3.Connection, above: int) -> int:
    """A worker may still name a task of a database that was set aside: its id goes to no other."""
    known = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'tasks'").fetchone()
    if known is None:
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('tasks', ?)", (above,))
    elif known[0] < above:
        connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'tasks'", (above,))
    return max(above, known[0] if known is not None else 0) + 1


def _update(connection: sqlite3.Connection, number: int | None, fields: Mapping[str, object]) -> None:
    if fields:
        assigned = ", ".join(f"{name} = ?" for name in fields)
        values = [_stored(name, value) for name, value in fields.items()]
        connection.execute(f"UPDATE tasks SET {assigned} WHERE number = ?", (*values, number))


def _stored(name: str, value: object) -> object:
    return json.dumps(value) if name in _LISTS else value


def _to_row(task: Task) -> tuple[object, ...]:
    return tuple(_stored(name, getattr(task, name)) for name in _COLUMNS)


def _from_row(row: tuple[Any, ...]) -> Task:
    values = [f"t{row[0]}", *row[1:]]
    for at, make in _MADE.items():
        values[at] = make(values[at])
    return Task(*values)


def _list(text: str) -> tuple[str, ...]:
    """As JSON has it. Thousands of them are read at once, and hardly one has to be parsed."""
    if "\\" in text:
        return tuple(json.loads(text))
    return tuple(text[2:-2].split('", "')) if text != "[]" else ()


_READ: dict[str, Callable[[Any], object]] = {"after": _list, "touches": _list, "standing": _STANDINGS.__getitem__}
_READ["auto_accept"] = bool
_MADE = {1 + _COLUMNS.index(name): make for name, make in _READ.items()}
