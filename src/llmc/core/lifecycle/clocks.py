"""Times that were written down, read by a clock that somebody may have moved since. Pure.

What the state holds is brought to the present when it is read: a clock that was set back, put forward or put right
moves every time in it along, so that each wait goes on for as long as it had left. A time in the future tells nothing
but that the clock was moved after it was written.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from llmc.model import Clock, State, Worker

SLACK_SECS = 60.0
"""Clocks are set by a few seconds all the time."""
LONGEST_OFF_SECS = 7 * 86_400.0
"""A machine that seems to have been off for longer may as well have had a wrong clock."""


def elapsed(since: float, now: float) -> float:
    return max(0.0, now - since)


def not_after(at: float, now: float) -> float:
    """When something happened that is told to have happened then: it is no later than when it was seen."""
    return min(at, now)


def is_future(at: float, now: float) -> bool:
    return at > now + SLACK_SECS


def is_older(at: float, now: float, secs: float) -> bool:
    """Whether it was not written within these last seconds. What bears a time to come was not written just now."""
    return now - at > secs or is_future(at, now)


def in_order(at: float, now: float) -> tuple[bool, float]:
    """To sort by, oldest first. What bears a time to come was written before the clock was set back."""
    return (not is_future(at, now), at)


def moved_by(then: Clock | None, now: Clock) -> float:
    """By how many seconds the clock was put forward (or back) since then; 0.0 when it has only run.

    Across a start of the machine only a clock that goes backwards is sure to have been moved.
    """
    if then is None:
        return 0.0
    passed = now.unix - then.unix
    moved = passed - (now.up_secs - then.up_secs) if _same_boot(then, now) else min(0.0, passed)
    return moved if abs(moved) > SLACK_SECS else 0.0


def following(then: Clock | None, now: Clock) -> Clock:
    """The clock to write down beside a state that was read with `then`."""
    if then is None:
        return now
    off = now.unix - then.unix if not _same_boot(then, now) else 0.0
    unsure = off if off > LONGEST_OFF_SECS else 0.0
    return replace(now, ahead_secs=max(0.0, then.ahead_secs + moved_by(then, now) + unsure))


def surely_past(then: Clock | None, now: Clock) -> float:
    """The latest time that has come for sure: what a clock was put forward by has not gone by."""
    return now.unix - following(then, now).ahead_secs


def _same_boot(then: Clock, now: Clock) -> bool:
    return bool(then.boot) and then.boot == now.boot


def in_present(state: State, now: Clock) -> State:
    """The state as if the clock had always been what it is now; the very same one when there is nothing to change."""
    moved = moved_by(state.clock, now)
    workers = {name: _worker_in_present(worker, moved, now.unix) for name, worker in state.workers.items()}
    patrol = _in_present(state.patrol_last_run_unix, moved, now.unix)
    if patrol == state.patrol_last_run_unix and all(workers[name] is worker for name, worker in state.workers.items()):
        return state
    return replace(state, workers=MappingProxyType(workers), patrol_last_run_unix=patrol)


def newest_time(worker: Worker) -> float:
    """Of what has happened to it; when it was made only tells it from another of the same name."""
    times = (worker.launched_at_unix, worker.last_crash_unix, worker.rebase_started_at_unix, worker.nudged_at_unix)
    blocked = worker.blocked.since_unix if worker.blocked is not None else 0.0
    known = (each for each in times if each is not None)
    return max(worker.last_activity_unix, worker.evidence.at_unix, blocked, *known)


def _worker_in_present(worker: Worker, moved: float, now: float) -> Worker:
    if not moved and newest_time(worker) <= now:
        return worker
    blocked = worker.blocked
    if blocked is not None:
        until = None if blocked.until_unix is None else blocked.until_unix + moved
        blocked = replace(blocked, since_unix=not_after(blocked.since_unix + moved, now), until_unix=until)
    return replace(
        worker,
        last_activity_unix=not_after(worker.last_activity_unix + moved, now),
        launched_at_unix=_in_present(worker.launched_at_unix, moved, now),
        last_crash_unix=_in_present(worker.last_crash_unix, moved, now),
        rebase_started_at_unix=_in_present(worker.rebase_started_at_unix, moved, now),
        nudged_at_unix=_in_present(worker.nudged_at_unix, moved, now),
        timers=MappingProxyType({name: due + moved for name, due in worker.timers.items()}),
        blocked=blocked,
        evidence=replace(worker.evidence, at_unix=not_after(worker.evidence.at_unix + moved, now)),
    )


def _in_present(at: float | None, moved: float, now: float) -> float | None:
    return None if at is None else not_after(at + moved, now)
