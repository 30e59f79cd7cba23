"""A kill between any two steps of giving a task out and of ending it: nothing is lost, nothing happens twice."""

from __future__ import annotations

import os
import signal

import pytest

from llmc.host.faults import VARIABLE, Moment
from llmc.model import Work
from llmc.perform.steps import settle
from testing.story import Story, script

WORK = script("write a.txt a", "commit Add a")
GIVING = (Moment.TASK_ADMITTED, Moment.TASK_SAVED, Moment.TASK_NOTED)


def kill_at(story: Story, moment: Moment, *words: str) -> None:
    os.environ[VARIABLE] = moment
    try:
        assert story.spawn(*words).wait() == -signal.SIGKILL, f"{words} does not come by {moment}"
    finally:
        del os.environ[VARIABLE]


def land(story: Story) -> None:
    """Whatever is left to do is done: without a daemon the next command goes on with what is pending."""
    if not any(worker.task for worker in story.site.ledger.load().workers.values()):
        story.llmc("task", "run-next")
    name = next(name for name, worker in story.site.ledger.load().workers.items() if worker.task)
    settle(story.site, name)
    story.look_until(name, lambda: story.worker(name).work is Work.NEEDS_REVIEW)
    story.llmc("accept", name)


def assert_done_once(story: Story, task: str) -> None:
    assert story.subjects().count("Add a") == 1
    shown = story.json("task", "show", task)
    assert (shown["state"], shown["attempts"]) == ("landed", 1)
    assert shown["landed_sha"] == story.git("rev-parse", "main")
    kinds = [each["kind"] for each in shown["history"]]
    assert (kinds.count("landed"), kinds.count("given") <= 1) == (1, True)
    assert story.json("task")["tasks"] == []


@pytest.mark.parametrize("moment", GIVING)
def test_a_task_that_was_being_given_out(story: Story, moment: Moment) -> None:
    story.begin("adam", "baker")
    story.llmc("restart", "--all")
    story.llmc("task", "add", WORK)
    kill_at(story, moment, "task", "run-next")
    (task,) = story.json("task")["tasks"]
    assert task["state"] == ("queued" if moment is Moment.TASK_ADMITTED else "assigned")
    land(story)
    assert_done_once(story, "t1")


@pytest.mark.parametrize("moment", GIVING)
def test_a_task_that_was_being_started(story: Story, moment: Moment) -> None:
    story.begin("adam")
    story.llmc("restart", "adam")
    kill_at(story, moment, "start", WORK)
    (task,) = story.json("task")["tasks"]
    if moment is Moment.TASK_ADMITTED:
        assert (task["state"], "the start was cut short" in task["reason"]) == ("held", True)
        story.llmc("task", "release", "t1")
    land(story)
    assert_done_once(story, "t1")


def test_a_task_whose_end_was_kept_before_its_worker_let_go_of_it(story: Story) -> None:
    story.begin("adam")
    story.llmc("restart", "adam")
    story.llmc("task", "add", WORK)
    story.llmc("task", "run-next")
    story.look_until("adam", lambda: story.worker("adam").work is Work.NEEDS_REVIEW)
    kill_at(story, Moment.TASK_ENDED, "accept", "adam")
    assert story.worker("adam").task == "t1"
    assert story.json("task", "list", "--all")["tasks"][0]["state"] in ("landing", "review")
    story.llmc("accept", "adam")
    assert_done_once(story, "t1")


def test_the_daemon_goes_on_with_what_was_being_given_out(story: Story) -> None:
    story.begin("adam")
    story.llmc("restart", "adam")
    story.llmc("task", "add", WORK)
    kill_at(story, Moment.TASK_SAVED, "task", "run-next")
    story.up()
    story.wait("adam", Work.NEEDS_REVIEW)
    story.llmc("accept", "adam")
    assert_done_once(story, "t1")
