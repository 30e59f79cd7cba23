"""When a task is given again unasked, to whom and with which words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llmc.core.lifecycle.effects import ResetWorktree
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.shared import with_steps
from llmc.core.tasks.checks import CheckResult
from llmc.core.tasks.retry import How, next_try
from llmc.core.tasks.task import Task
from llmc.model import Autonomy, Blocked, Evidence, Session, Turn, Work, Worker

AUTO = Policy(autonomy=Autonomy.AUTO, crash_limit=3)
TASK = Task("t1", "Add a page", "Add a page", 1.0)


def stopped(detail="stopped without a commit: All done.", **fields):
    made = Worker("adam", "/w", "llmc/adam", "llmc-adam", "demo", 0.0, 0.0, session=Session.UP, task="t1")
    fields = {"work": Work.NEEDS_INPUT, "turn": Turn.OVER, "last_words": "All done.", **fields}
    return replace(made, evidence=Evidence("hook.turn_end", 5.0, detail), **fields)


def failed(signal, session=Session.CRASHED, **fields):
    return replace(stopped(work=Work.ERROR, session=session, **fields), evidence=Evidence(signal, 5.0, "3 crashes"))


def test_a_turn_without_a_commit_goes_on_with_what_was_said_last():
    again = next_try(stopped(), TASK, AUTO, 1)
    assert (again.how, again.why) == (How.MESSAGE, "stopped without a commit: All done.")
    assert "You stopped without a commit, and the task is not done. The last that you said: All done." in again.text


@pytest.mark.parametrize(
    ("worker", "task", "policy", "retries"),
    [
        (stopped(), TASK, replace(AUTO, autonomy=Autonomy.ASSIST), 1),
        (stopped(), TASK, AUTO, 0),
        (stopped(), replace(TASK, retried=1), AUTO, 1),
        (stopped(task="t2"), TASK, AUTO, 1),
        (stopped(last_words="Which one do you want?"), TASK, AUTO, 1),
        (stopped("it asks for permission: rm -r build"), TASK, AUTO, 1),
        (stopped("its commits are on main, not on its branch"), TASK, AUTO, 1),
        (stopped(turn=Turn.OPEN), TASK, AUTO, 1),
        (stopped(session=Session.DOWN), TASK, AUTO, 1),
        (stopped(work=Work.NEEDS_REVIEW), TASK, AUTO, 1),
        (stopped(blocked=Blocked("rate_limit", 1.0, None)), TASK, AUTO, 1),
        (stopped(start_dialog="trust this?"), TASK, AUTO, 1),
        (with_steps(stopped(), ResetWorktree()), TASK, AUTO, 1),
        (replace(stopped(), evidence=Evidence("interrupted", 5.0, "stopped without a commit")), TASK, AUTO, 1),
        (failed("process.exit", crash_count=2), TASK, AUTO, 1),
        (failed("setup.failed", crash_count=9), TASK, AUTO, 1),
        (failed("delivery", resume_work=Work.NEEDS_INPUT), TASK, AUTO, 1),
    ],
)
def test_what_is_left_to_a_person(worker, task, policy, retries):
    assert next_try(worker, task, policy, retries) is None


@pytest.mark.parametrize(
    "worker", [failed("process.exit", crash_count=3), failed("delivery", resume_work=Work.IDLE, session=Session.UP)]
)
def test_an_agent_that_cannot_do_it_gives_it_up(worker):
    assert next_try(worker, TASK, AUTO, 1).how is How.ELSEWHERE


def test_failed_checks_go_back_with_the_end_of_their_output():
    failed = CheckResult("tree", "make test", False, "x" * 9000 + "1 failed", 1.0, 100.0, "failed with exit code 2")
    again = next_try(stopped(work=Work.NEEDS_REVIEW), TASK, AUTO, 1, failed)
    assert (again.how, again.why) == (How.REJECT, "`make test` failed with exit code 2")
    assert "1 failed\n```" in again.text
    assert len(again.text) < 9000
