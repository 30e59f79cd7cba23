"""What a change of the state costs: against the floor, the same bytes written, synced and renamed, and against SQLite.

The alternatives take turns in one run, so that a busy machine is unfair to none of them. Only the ratios travel.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench.checkout import Checkout
from bench.measure import COLUMNS, take_turns
from bench.report import Table, Verdict
from llmc.host.locks import FileLock
from llmc.model import Session, State, Step, Work, Worker
from llmc.store.snapshot import read_state
from llmc.store.state_file import StateFile

Update = Callable[[], object]


def make_state(workers: int) -> State:
    return State({name: _worker(name) for name in (f"worker{number}" for number in range(workers))})


def _worker(name: str) -> Worker:
    bare = Worker(name, f"/srv/llmc/.worktrees/{name}", f"llmc/{name}", f"llmc-{name}", "claude", 1.7e9, 1.7e9)
    task = "Make the login page remember the user, with tests.\n" * 20
    pending = (Step("1", "send", {"text": "go on"}),)
    return replace(bare, work=Work.WORKING, session=Session.UP, current_prompt=task, pending=pending)


def count_up(state: State) -> State:
    first = next(iter(state.workers.values()))
    return replace(state, workers={**state.workers, first.name: replace(first, step_count=first.step_count + 1)})


def transact(place: Path, state: State) -> Update:
    """As the daemon does it, which knows the file from the change before."""
    file = StateFile(place / "transact")
    file.create(state)
    file.load()
    return lambda: file.transact(count_up)


def first_transact(place: Path, state: State) -> Update:
    """As a command does it, which sees the file for the first time."""
    StateFile(place / "first").create(state)
    return lambda: StateFile(place / "first").transact(count_up)


def load(place: Path, state: State) -> Update:
    StateFile(place / "load").create(state)
    return lambda: StateFile(place / "load").load()


def read_raw(place: Path, state: State) -> Update:
    StateFile(place / "raw").create(state)
    return lambda: read_state(str(place / "raw"))


def lock_alone(place: Path, state: State) -> Update:
    lock = FileLock(place / "alone.lock")

    def take() -> None:
        with lock:
            pass

    return take


def floor(place: Path, state: State) -> Update:
    """Nothing but the bytes: no lock, no check, no backup."""
    StateFile(place / "floor").create(state)
    path = place / "floor" / "state.json"
    data = path.read_bytes()
    temporary = path.with_suffix(".new")

    def write() -> None:
        with open(temporary, "wb", buffering=0) as file:
            file.write(data)
            os.fsync(file.fileno())
        temporary.replace(path)

    return write


def sqlite_row(place: Path, state: State) -> Update:
    """One row of one worker, synced at each commit: what a database would do for the same promise."""
    database = sqlite3.connect(place / "state.db", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE workers (name TEXT PRIMARY KEY, step_count INTEGER, record TEXT)")
    rows = [(worker.name, worker.current_prompt) for worker in state.workers.values()]
    database.executemany("INSERT INTO workers VALUES (?, 0, ?)", rows)

    def update() -> None:
        database.execute("BEGIN IMMEDIATE")
        database.execute("UPDATE workers SET step_count = step_count + 1 WHERE name = ?", rows[0][:1])
        database.execute("COMMIT")

    return update


DAEMON = "transact, known file (daemon)"
LIMIT, LIMITED_WORKERS = 3.0, 100
ALTERNATIVES = {
    "write, fsync, rename (the floor)": floor,
    DAEMON: transact,
    "transact, new file (command)": first_transact,
    "SQLite, one row": sqlite_row,
    "load, new file": load,
    "snapshot.read_state": read_raw,
    "FileLock": lock_alone,
}

NOTE = (
    "The state is one file that a person can read and fix. Every change writes all of it, checks all of it before that"
    " and keeps the one before, which is why it is slower than one row of a database where there are many workers."
)


def measure(beside: Checkout | None = None, workers: tuple[int, ...] = (1, 10, 100), rounds: int = 50) -> list[Table]:
    tables = [_table(count, rounds) for count in workers]
    return [*tables, _beside(beside, tables[-1])] if beside else tables


def _beside(other: Checkout, ours: Table) -> Table:
    """By its own measurement of the same thing, right after ours: each beside a floor of its own."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "figures.json")
        own = [str(other.python), "-m", "bench", "state_updates", "--json", str(file)]
        subprocess.run(own, cwd=other.path, check=True, stdout=subprocess.DEVNULL)
        tables = json.loads(file.read_bytes())["measurements"]["state_updates"]
    its = {row[""]: row["x floor"] for table in tables if table["title"] == ours.title for row in table["rows"]}
    rows = [(str(row[0]), its.get(row[0]), row[-1]) for row in ours.rows]
    return Table(f"{ours.title}, beside {other.name}", ("", "its x floor", "llmc x floor"), rows)


def _table(workers: int, rounds: int) -> Table:
    state = make_state(workers)
    with tempfile.TemporaryDirectory() as place:
        updates = {name: make(Path(place), state) for name, make in ALTERNATIVES.items()}
        timings = take_turns(updates, floor=next(iter(ALTERNATIVES)), rounds=rounds)
    title = f"A change of the state, {workers} workers"
    verdicts = tuple(
        Verdict(f"{timing.name}, {workers} workers", timing.ratio, LIMIT, "x floor")
        for timing in timings
        if timing.name == DAEMON and workers == LIMITED_WORKERS
    )
    return Table(title, COLUMNS, [timing.row for timing in timings], verdicts, f"{rounds} rounds. {NOTE}")
