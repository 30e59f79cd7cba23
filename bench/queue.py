"""A long queue: what it costs to list it and to say who gets what, beside plain SQLite and JSON over the same tasks.

The alternatives take turns in one run, so that a busy machine is unfair to none of them. Only the ratios travel.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.measure import COLUMNS, take_turns
from bench.report import Table
from llmc.core.tasks.queue import Flight, Hand, assign
from llmc.core.tasks.task import Task, view_of
from llmc.store.tasks import TaskStore

TEXT = "Make the login page remember the user, with tests.\n" * 20
FLIGHTS = [Flight(f"worker{n}", frozenset(f"src/busy{n}/file{m}.py" for m in range(20))) for n in range(10)]
NOTE = (
    "Every third task comes after another one, every fifth says what it touches; ten workers are at work and two are"
    " free. Listing reads and parses every task; the plain ways only read the rows."
)


def make_tasks(count: int) -> list[Task]:
    return [
        Task(
            f"t{number}",
            TEXT,
            f"Task {number}",
            float(number),
            priority=number % 3,
            after=(f"t{number - 1}",) if number % 3 == 0 else (),
            touches=(f"src/part{number}/*.py",) if number % 5 == 0 else (),
        )
        for number in range(1, count + 1)
    ]


def listed(store: TaskStore) -> list[object]:
    return [view_of(task, None) for task in store.all(ended=False)]


def assigned(store: TaskStore) -> object:
    queued = store.queued()
    hands = [Hand(f"worker{n}", "demo", free=n < 2) for n in range(12)]
    return assign(queued, hands, {task.id: task.standing for task in queued}, FLIGHTS)


def measure(tasks: int = 10_000, rounds: int = 10) -> list[Table]:
    made = make_tasks(tasks)
    with tempfile.TemporaryDirectory() as place:
        store = TaskStore(Path(place, "tasks.db"), Path(place, "tasks.json"))
        store.add(*made, at=1.0)
        text = json.dumps([[task.id, task.title, task.text, list(task.after)] for task in made])
        ways: dict[str, Callable[[], object]] = {
            "SQLite, all rows (the floor)": lambda: _rows(place),
            "json.loads of id, title, text, after": lambda: json.loads(text),
            "llmc task list: all tasks": lambda: listed(store),
            "assignment: read the queue, plan it": lambda: assigned(store),
        }
        timings = take_turns(ways, floor=next(iter(ways)), rounds=rounds)
        store.database.close()
    title = f"A queue of {tasks} tasks"
    return [Table(title, COLUMNS, [timing.row for timing in timings], note=f"{rounds} rounds. {NOTE}")]


def _rows(place: str) -> list[tuple[object, ...]]:
    database = sqlite3.connect(Path(place, "tasks.db"))
    try:
        return database.execute("SELECT * FROM tasks").fetchall()
    finally:
        database.close()
