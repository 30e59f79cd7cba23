"""The store of tasks: what it keeps, what it tells, and that a long queue costs little."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.queue import assigned, listed, make_tasks
from llmc.core.tasks.changes import TaskChange
from llmc.core.tasks.ending import TaskEnd
from llmc.core.tasks.task import Standing, Task
from llmc.store.task_database import TasksUnusableError
from llmc.store.tasks import SHOWN_IN_STATUS, TaskEvent, TaskStore, UnknownTaskError


@pytest.fixture
def store(tmp_path: Path) -> TaskStore:
    return TaskStore(tmp_path / "tasks.db", tmp_path / "run" / "tasks.json")


def new(title: str = "One", **fields: object) -> Task:
    return Task("", title, title, 1.0, **fields)  # type: ignore[arg-type]


def mark(store: TaskStore) -> dict:
    return json.loads(store._mark.read_text())


def test_what_is_kept_is_read_again(store: TaskStore) -> None:
    odd = new('A "quoted" \\ title', after=("t1", "t2"), touches=('a", "b', "c\\d", "é"), auto_accept=True, priority=-3)
    (added,) = store.add(odd, at=2.0)
    assert store.task("t1") == added
    assert store.all() == [added]
    assert store.queued()[0].touches == odd.touches


def test_tasks_are_given_out_by_priority_and_then_by_age(store: TaskStore) -> None:
    store.add(new(), new(priority=1), new(standing=Standing.HELD), new(priority=1), at=1.0)
    assert [task.id for task in store.queued()] == ["t2", "t4", "t1"]


def test_an_end_that_is_told_twice_happens_once(store: TaskStore) -> None:
    store.add(new(), at=1.0)
    store.began("t1", "adam", 2.0)
    for _ in range(2):
        store.ended("t1", "adam", TaskEnd(Standing.LANDED, landed_sha="abc"), 3.0)
    task = store.task("t1")
    assert (task.standing, task.landed_sha, task.attempts) == (Standing.LANDED, "abc", 1)
    assert [each.kind for each in store.history("t1")] == ["added", "given", "landed"]


def test_an_attempt_whose_beginning_was_not_kept_is_counted_at_its_end(store: TaskStore) -> None:
    store.add(new(), at=1.0)
    store.ended("t1", "adam", TaskEnd(Standing.FAILED, "reset"), 3.0)
    assert store.task("t1").attempts == 1


def test_changes_are_made_all_or_none(store: TaskStore) -> None:
    store.add(new(), new(), at=1.0)
    wrong = TaskChange("edited", fields={"nonsense": 1})
    with pytest.raises(TasksUnusableError, match="no such column"):
        store.change_all({"t1": TaskChange("held", fields={"standing": Standing.HELD}), "t2": wrong}, 2.0)
    assert store.task("t1").standing is Standing.QUEUED
    with pytest.raises(UnknownTaskError):
        store.change("t9", TaskEvent(1.0, "held"))


def test_what_is_taken_over_keeps_its_id_and_what_is_there_stays(store: TaskStore) -> None:
    store.add(new("mine"), at=1.0)
    lost = [Task("t1", "theirs", "theirs", 1.0), Task("t7", "lost", "lost", 1.0, given_to="adam")]
    assert store.take_over(lost, 2.0) == ["t7"]
    assert (store.task("t1").title, store.task("t7").given_to) == ("mine", "adam")
    assert [task.id for task in store.add(new(), at=3.0)] == ["t8"]


def test_ten_thousand_tasks(store: TaskStore) -> None:
    store.add(*make_tasks(10_000), at=1.0)
    assert len(listed(store)) == 10_000
    plan = assigned(store)
    assert len(plan.pairs) == 2
    assert len(plan.waiting) == 9_998
    told = mark(store)
    assert (len(told["open"]), told["counts"]) == (SHOWN_IN_STATUS, {"queued": 10_000})
    assert "text" not in told["open"][0]
