"""A clock that somebody moves takes nothing with it: every wait goes on for as long as it had left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llmc.core.lifecycle.clocks import (
    LONGEST_OFF_SECS,
    elapsed,
    following,
    in_order,
    in_present,
    is_older,
    moved_by,
    newest_time,
    not_after,
    surely_past,
)
from llmc.model import Blocked, Clock, Evidence, State, Worker

NOW = 1_800_000_000.0
DAY = 86_400.0
THEN = Clock(NOW, up_secs=5_000.0, boot="a")
ADAM = Worker(
    name="adam",
    worktree_path="/r/.worktrees/adam",
    branch="llmc/adam",
    session_id="llmc-adam",
    agent="demo",
    created_at_unix=NOW - 1_000,
    last_activity_unix=NOW - 100,
    launched_at_unix=NOW - 900,
    last_crash_unix=NOW - 950,
    rebase_started_at_unix=NOW - 50,
    nudged_at_unix=NOW - 40,
    timers={"restart": NOW + 5, "go_on": NOW + 3 * DAY},
    blocked=Blocked("rate_limit", NOW - 60, NOW + 3 * DAY),
    evidence=Evidence("hook.turn_end", NOW - 100),
)
STATE = State({"adam": ADAM}, patrol_last_run_unix=NOW - 20, clock=THEN)


def later(seconds: float, *, moved: float = 0.0, boot: str = "a") -> Clock:
    up = THEN.up_secs + seconds if boot == "a" else seconds
    return Clock(THEN.unix + seconds + moved, up, boot)


def ages(worker: Worker, now: Clock) -> list[float]:
    times = [
        worker.last_activity_unix,
        worker.launched_at_unix,
        worker.last_crash_unix,
        worker.rebase_started_at_unix,
        worker.nudged_at_unix,
        worker.blocked.since_unix,
        worker.blocked.until_unix,
        worker.evidence.at_unix,
        *worker.timers.values(),
    ]
    return [round(now.unix - at, 3) for at in times]


@pytest.mark.parametrize("moved", [0.0, 5.0, -5.0])
def test_a_clock_that_runs_changes_nothing(moved: float) -> None:
    assert in_present(STATE, later(30, moved=moved)) is STATE


@pytest.mark.parametrize("moved", [-900 * DAY, -2 * DAY, -3_600.0, 3_600.0, 2 * DAY, 900 * DAY])
def test_every_time_goes_with_the_clock(moved: float) -> None:
    now = later(30, moved=moved)
    state = in_present(STATE, now)
    assert ages(state.workers["adam"], now) == ages(ADAM, later(30))
    assert state.patrol_last_run_unix == pytest.approx(now.unix - 50)
    assert state.workers["adam"].created_at_unix == ADAM.created_at_unix  # tells it from another of its name


def test_a_machine_that_slept_or_was_off_has_let_the_time_go_by() -> None:
    asleep = later(3 * DAY)
    assert moved_by(THEN, asleep) == 0.0
    off = later(60, moved=3 * DAY, boot="b")
    assert moved_by(THEN, off) == 0.0
    assert in_present(STATE, off) is STATE


def test_a_machine_that_came_up_with_a_wrong_clock() -> None:
    now = Clock(NOW - 700 * DAY, 10.0, "b")
    worker = in_present(STATE, now).workers["adam"]
    assert elapsed(worker.last_activity_unix, now.unix) == pytest.approx(100)
    assert worker.timers["restart"] == pytest.approx(now.unix + 5)
    put_right = Clock(NOW + 60, 70.0, "b")
    assert moved_by(now, put_right) == pytest.approx(700 * DAY)


def test_without_a_second_clock_no_time_is_in_the_future() -> None:
    state = replace(STATE, clock=None)
    worker = in_present(state, Clock(NOW - DAY)).workers["adam"]
    assert newest_time(worker) == NOW - DAY
    assert in_present(state, Clock(NOW + DAY)) is state


def test_what_a_clock_was_put_forward_by_has_not_gone_by() -> None:
    ahead = later(30, moved=900 * DAY)
    assert surely_past(THEN, ahead) == pytest.approx(NOW + 30)
    kept = following(THEN, ahead)
    assert surely_past(kept, replace(ahead, unix=ahead.unix + 10, up_secs=ahead.up_secs + 10)) == pytest.approx(
        NOW + 40
    )
    put_right = later(60)
    assert following(kept, put_right).ahead_secs == pytest.approx(0.0, abs=1.0)
    set_back = later(60, moved=-900 * DAY)
    assert surely_past(THEN, set_back) == set_back.unix


def test_a_machine_that_seems_to_have_been_off_for_long_may_have_had_a_wrong_clock() -> None:
    assert surely_past(THEN, later(0, moved=DAY, boot="b")) == NOW + DAY
    assert surely_past(THEN, later(0, moved=2 * LONGEST_OFF_SECS, boot="b")) == NOW


def test_times_that_stand_alone() -> None:
    assert elapsed(NOW + 5, NOW) == 0.0
    assert not_after(NOW + 5, NOW) == NOW
    assert is_older(NOW - 61, NOW, 60.0)
    assert not is_older(NOW - 59, NOW, 60.0)
    assert not is_older(NOW + 1, NOW, 60.0)
    assert is_older(NOW + DAY, NOW, 60.0)
    assert sorted([NOW - 1, NOW + DAY, NOW - DAY], key=lambda at: in_order(at, NOW)) == [NOW + DAY, NOW - DAY, NOW - 1]
