"""What the doctor says of `tasks.db`, and what it can do about it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from llmc.app import open_site
from llmc.core.tasks.task import Task
from llmc.model import Work
from testing.damage import adam as adam
from testing.damage import change_worker
from testing.damage import doctor as doctor
from testing.damage import git as git
from testing.damage import root as root
from testing.damage import source as source


def queue(root, *titles):
    store = open_site(root).ledger.tasks
    store.add(*(Task("", title, title, 1.0) for title in titles), at=1.0)
    store.database.close()


def at_work(root, task="t2"):
    change_worker(root, "adam", work=Work.NEEDS_INPUT, task=task, current_prompt="Add a page\n\nplease")


def test_a_healthy_queue_is_counted_and_left_alone(doctor, root, adam):
    queue(root, "One", "Two")
    before = sorted(path.name for path in Path(root.path).iterdir())
    report = doctor()
    assert report.codes == set()
    assert sorted(path.name for path in Path(root.path).iterdir()) == before


def test_a_damaged_database_is_set_aside_and_begun_with_the_workers_tasks(doctor, root, adam):
    at_work(root)
    Path(root.tasks).write_bytes(b"not a database" * 100)
    assert doctor().one("tasks-broken")["severity"] == "error"
    report = doctor("--repair", "--yes")
    assert (report.not_done, report.codes) == ([], set())
    assert [kept.read_bytes()[:14] for kept in Path(root.path).glob("tasks.db.corrupt-*")] == [b"not a database"]
    task = open_site(root).ledger.tasks.task("t2")
    assert (task.title, task.text, task.given_to) == ("Add a page", "Add a page\n\nplease", "adam")


@pytest.mark.parametrize("leads_to", ["elsewhere.db", "nowhere.db"])
def test_a_link_in_its_place_is_set_aside(doctor, root, adam, tmp_path, leads_to):
    queue(root, "One")
    Path(root.tasks).rename(tmp_path / "elsewhere.db")
    Path(root.tasks).symlink_to(tmp_path / leads_to)
    assert "it is a link" in doctor().one("tasks-broken")["what"]
    report = doctor("--repair", "--yes")
    assert (report.not_done, report.codes) == ([], set())
    assert [kept.readlink() for kept in Path(root.path).glob("tasks.db.corrupt-*")] == [tmp_path / leads_to]


def test_a_database_of_a_newer_version_is_left_alone(doctor, root, adam):
    queue(root, "One")
    with sqlite3.connect(root.tasks) as database:
        database.execute("PRAGMA user_version = 99")
    assert "newer" in doctor().one("tasks-newer")["what"]


def test_a_lock_that_somebody_holds_is_told(doctor, root, adam):
    queue(root, "One")
    with sqlite3.connect(root.tasks) as other:
        other.execute("BEGIN IMMEDIATE")
        assert doctor().codes == {"tasks-locked"}
        other.rollback()
    assert doctor().codes == set()


def test_a_task_that_only_its_worker_knows_is_taken_over(doctor, root, adam):
    at_work(root)
    assert doctor().one("task-lost")["worker"] == "adam"
    report = doctor("--repair", "--yes")
    assert (report.not_done, report.codes) == ([], set())
    assert open_site(root).ledger.tasks.task("t2").attempts == 1


def test_a_task_that_nobody_has_any_more_is_told(doctor, root, adam):
    queue(root, "One")
    store = open_site(root).ledger.tasks
    store.began("t1", "adam", 2.0)
    store.database.close()
    found = doctor().one("task-adrift")
    assert "t1 (One) was given to adam" in found["what"]
    assert "`llmc task retry t1` queues it again" in found["repair"]
