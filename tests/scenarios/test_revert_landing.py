"""A landing that is taken back: a commit on top, and nothing of anybody else's."""

from __future__ import annotations

import os
import signal
import sqlite3

import pytest

from llmc.core.tasks.task import Standing, Task
from llmc.host.faults import VARIABLE, Moment
from llmc.model import Turn, Work
from testing.world import World


@pytest.fixture
def landed(world: World) -> World:
    """Task t1 of adam's has landed, and somebody has committed since."""
    story = world.story
    story.site.ledger.tasks.add(Task("", "Do it", "Do it", 1.0), at=1.0)
    world.work({"a.txt": "a\n", "README": None}, "Add a")
    world.to_review()
    story.rewrite("adam", task="t1")
    story.llmc("accept", "adam")
    world.upstream({"later.txt": "later\n"}, "Later")
    return world


def task(world: World) -> Task:
    return world.story.site.ledger.tasks.task("t1")


def test_it_is_taken_back_by_a_commit_on_top(landed: World) -> None:
    sha = task(landed).landed_sha
    said = landed.story.llmc("undo", "--landing", "t1")
    assert "t1: taken back by" in said.out
    assert landed.story.subjects()[-3:] == ["Add a", "Later", 'Revert "Add a"']
    body = landed.in_source("log", "-1", "--format=%b")
    assert f"This reverts commit {sha}." in body
    assert "task t1: Do it" in body
    assert landed.in_source("diff", "--name-status", f"{sha}~1", "main") == "A\tlater.txt"
    assert (landed.source / "README").exists()
    assert not (landed.source / "a.txt").exists()
    assert landed.in_source("status", "--porcelain") == ""
    now = task(landed)
    made = landed.in_source("rev-parse", "main")
    assert (now.standing, now.reason) == (Standing.CANCELLED, f"taken back by {made[:12]}")
    assert landed.in_clone("for-each-ref", "refs/llmc/revert") == ""
    again = landed.story.llmc("undo", "--landing", "t1", code=1)
    assert "t1 has not landed: it is cancelled (taken back by" in again.err


def test_a_conflict_is_refused_with_the_files(landed: World) -> None:
    landed.upstream({"a.txt": "another a\n"}, "On top")
    before = landed.picture()
    said = landed.story.llmc("undo", "--landing", "t1", code=1)
    assert "conflicts with what main has since, in a.txt; nothing was changed" in said.err
    assert landed.picture() == before
    assert task(landed).standing is Standing.LANDED


def test_local_changes_are_not_overwritten(landed: World) -> None:
    landed.local({"a.txt": "mine\n"})
    before = landed.picture()
    assert "local changes" in landed.story.llmc("undo", "--landing", "t1", code=1).err
    assert landed.picture() == before
    assert task(landed).standing is Standing.LANDED


def test_what_somebody_took_back_by_hand_is_told(landed: World) -> None:
    landed.in_source("revert", "--no-edit", "HEAD~1")
    said = landed.story.llmc("undo", "--landing", "t1", code=1)
    assert "somebody has taken it back already" in said.err


def test_wrong_words_change_nothing(landed: World) -> None:
    assert "there is no task 't9'" in landed.story.llmc("undo", "--landing", "t9", code=1).err
    landed.story.llmc("undo", "adam", "--landing", "t1", code=2)
    landed.story.site.ledger.tasks.add(Task("", "Next", "Next", 1.0), at=1.0)
    assert "t2 has not landed: it is queued" in landed.story.llmc("undo", "--landing", "t2", code=1).err
    assert landed.story.subjects()[-1] == "Later"


def test_other_work_follows(landed: World) -> None:
    sha = landed.story.commit_as("baker", "b.txt", "b\n", "Work of baker")
    landed.story.rewrite("baker", work=Work.NEEDS_REVIEW, commit_sha=sha, turn=Turn.OVER)
    landed.story.llmc("undo", "--landing", "t1")
    assert landed.in_clone("rev-parse", "llmc/baker~1") == landed.in_source("rev-parse", "main")


@pytest.mark.parametrize("moment", [Moment.REVERT_COMMITTED, Moment.ACCEPT_JOURNALED, Moment.REVERT_LANDED])
def test_it_goes_on_where_it_was_killed(landed: World, moment: Moment) -> None:
    os.environ[VARIABLE] = moment
    try:
        assert landed.story.spawn("undo", "--landing", "t1").wait() == -signal.SIGKILL
    finally:
        del os.environ[VARIABLE]
    landed.story.llmc("undo", "--landing", "t1")
    assert landed.story.subjects()[-3:] == ["Add a", "Later", 'Revert "Add a"']
    assert task(landed).reason == f"taken back by {landed.in_source('rev-parse', 'main')[:12]}"
    assert landed.in_source("status", "--porcelain") == ""


def test_a_later_landing_of_the_task_is_taken_back_too(landed: World) -> None:
    """The ref of the first revert may be left by a kill in its last moment."""
    landed.story.llmc("undo", "--landing", "t1")
    landed.in_clone("update-ref", "refs/llmc/revert/t1", landed.in_source("rev-parse", "main"))
    landed.story.llmc("task", "retry", "t1")
    landed.work({"again.txt": "again\n"}, "Add it again")
    landed.to_review()
    landed.story.rewrite("adam", task="t1")
    landed.story.llmc("accept", "adam")
    landed.story.llmc("undo", "--landing", "t1")
    assert landed.story.subjects()[-2:] == ["Add it again", 'Revert "Add it again"']
    assert not (landed.source / "again.txt").exists()


def test_nothing_lands_and_nothing_is_taken_back_that_could_not_be_kept(landed: World) -> None:
    """What the answer says of the branch is true: nothing was changed."""
    landed.story.site.ledger.tasks.add(Task("", "More", "More", 1.0), at=1.0)
    landed.work({"more.txt": "more\n"}, "Add more")
    landed.to_review()
    landed.story.rewrite("adam", task="t2")
    before = landed.in_source("rev-parse", "main")
    with sqlite3.connect(landed.story.root.tasks) as other:
        other.execute("BEGIN IMMEDIATE")
        for words in (("accept", "adam"), ("undo", "--landing", "t1")):
            assert "nothing was changed" in landed.story.llmc(*words, code=1).err
            assert landed.in_source("rev-parse", "main") == before
    assert (landed.story.worker("adam").work, landed.story.worker("adam").pending) == (Work.NEEDS_REVIEW, ())
    landed.story.llmc("accept", "adam")
    assert landed.story.subjects()[-1] == "Add more"


def test_whoever_restores_the_work_is_told_why_it_does_not_wait_for_review(landed: World) -> None:
    landed.story.site.ledger.tasks.add(Task("", "More", "More", 1.0), at=1.0)
    landed.work({"more.txt": "more\n"}, "Add more\n\nCo-Authored-By: Claude <noreply@anthropic.com>")
    landed.to_review()
    landed.story.rewrite("adam", task="t2")
    landed.story.llmc("accept", "adam")
    landed.story.llmc("undo", "--landing", "t2")
    said = landed.story.llmc("undo", "adam").out
    assert "note: main has had this work before, so nothing of it waits for review" in said
    assert landed.story.worker("adam").work is Work.IDLE
