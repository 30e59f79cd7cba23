from __future__ import annotations

from dataclasses import replace

import pytest

from llmc.core.lifecycle.effects import ResetWorktree
from llmc.core.lifecycle.transitions.shared import with_steps
from llmc.core.tasks.pool import how_to_free, is_free, next_free, next_to_review
from llmc.model import Evidence, Session, Work, Worker

NOBODY = frozenset()


def worker(name="adam", idle_since=100.0, **fields):
    made = Worker(name, f"/w/{name}", f"llmc/{name}", f"llmc-{name}", "demo", 0.0, idle_since, session=Session.UP)
    return replace(made, **fields)


def test_an_idle_worker_with_a_session_is_free():
    assert is_free(worker())


@pytest.mark.parametrize("work", [work for work in Work if work is not Work.IDLE])
def test_a_worker_with_work_is_not_free(work):
    assert not is_free(worker(work=work))


@pytest.mark.parametrize("session", [session for session in Session if session is not Session.UP])
def test_a_worker_without_a_session_is_not_free(session):
    assert not is_free(worker(session=session))


def test_a_worker_in_the_middle_of_something_is_not_free():
    assert not is_free(with_steps(worker(), ResetWorktree()))


def test_the_task_goes_to_who_has_been_idle_for_longest():
    pool = [worker("adam", 300.0), worker("eve", 100.0), worker("cain", 200.0)]
    assert next_free(pool, NOBODY).name == "eve"
    assert next_free(reversed(pool), NOBODY).name == "eve"


def test_equals_are_taken_by_name():
    assert next_free([worker("eve"), worker("adam")], NOBODY).name == "adam"


def test_who_only_takes_work_by_name_is_left_out():
    pool = [worker("adam", 1.0), worker("eve", 2.0)]
    assert next_free(pool, frozenset({"adam"})).name == "eve"
    assert next_free(pool, frozenset({"adam", "eve"})) is None


def test_nobody_is_free_when_all_are_at_work():
    assert next_free([], NOBODY) is None
    assert next_free([worker(work=Work.WORKING)], NOBODY) is None


def reviewable(name, since, **fields):
    evidence = Evidence("hook.turn_end", since)
    return worker(name, work=Work.NEEDS_REVIEW, commit_sha="a" * 40, evidence=evidence, **fields)


def test_the_work_that_has_waited_for_longest_is_looked_at_first():
    waiting = [reviewable("adam", 300.0), reviewable("eve", 100.0), worker("cain", 1.0)]
    assert next_to_review(waiting).name == "eve"


def test_work_waits_for_review_with_or_without_a_session():
    waiting = [reviewable("adam", 300.0), reviewable("eve", 100.0, session=Session.DOWN)]
    assert next_to_review(waiting).name == "eve"


def test_nothing_to_review():
    assert next_to_review([worker(), worker("eve", work=Work.REJECTED)]) is None


@pytest.mark.parametrize(
    ("workers", "way"),
    [
        ([], "`llmc add NAME`"),
        ([worker(session=Session.DOWN), worker("eve", work=Work.WORKING)], "`llmc up --detach` brings adam up"),
        ([worker(work=Work.WORKING), reviewable("eve", 1.0)], "`llmc review eve`"),
        ([worker(work=Work.WORKING)], "`llmc add NAME` makes another worker"),
    ],
)
def test_the_nearest_way_to_a_free_worker(workers, way):
    assert way in how_to_free(workers, NOBODY)
    assert how_to_free([*workers, worker("only", session=Session.DOWN)], frozenset({"only"})) == how_to_free(
        workers, NOBODY
    )
