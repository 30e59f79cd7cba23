"""The end of an agent, its restart, and its way back to the work. Restarts are bounded, then somebody is called."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import Deliver, Notify, Purpose, RemoveWorker, StopSession
from llmc.core.lifecycle.exit_cause import ExitCause, exit_cause
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.blocked import blocked_at_exit
from llmc.core.lifecycle.transitions.shared import RESTART, Move, awaits, error, needs_input, with_steps, with_timer
from llmc.model import Session, Turn, Work, Worker


def agent_exited(worker: Worker, event: ev.AgentExited, policy: Policy) -> Move:
    if worker.session is not Session.UP or awaits(worker, StopSession, RemoveWorker):
        return Move(worker)  # whoever starts or stops the session reports its end
    worker = replace(worker, turn=Turn.OVER)
    cause = exit_cause(event.code, event.signal, event.last_words)
    if cause is ExitCause.CLOSED:
        ended = replace(worker, session=Session.DOWN)
        return Move(ended, (Notify("exited", f"{worker.name}: the agent was closed"),), f"exit code {event.code}")
    if cause in (ExitCause.RATE_LIMIT, ExitCause.AUTH):
        return blocked_at_exit(replace(worker, session=Session.DOWN), event, cause.value, policy)
    why = f"the agent crashed ({_how(event)})" + (f": {event.last_words}" if event.last_words else "")
    return _crashed(worker, why, event.at, policy, hopeless=cause is ExitCause.FATAL)


def _how(event: ev.AgentExited) -> str:
    if event.signal is not None:
        return f"signal {event.signal}"
    return f"exit code {event.code}" if event.code is not None else "nobody saw how"


def _crashed(worker: Worker, why: str, at: float, policy: Policy, *, hopeless: bool = False) -> Move:
    worker = replace(_counted(worker, at, policy), session=Session.CRASHED)
    if not policy.recovers:
        told = f"{worker.name}: {why}; `llmc restart {worker.name}` starts it again"
        had_task = worker.current_prompt and worker.work in (Work.WORKING, Work.REJECTED)
        told += ", with --resend it also gets its task again" if had_task else ""
        return Move(worker, (Notify("crashed", told, escalates=True),), why)
    if hopeless:
        return error(worker, f"{why}; it says that it cannot run, and is not restarted")
    return _restarted(worker, why, at, policy)


def _counted(worker: Worker, at: float, policy: Policy) -> Worker:
    """Crashes of long ago are forgotten; those of a task that was merged are too."""
    last = worker.last_crash_unix
    long_ago = last is None or at - last > policy.crash_count_reset_secs
    return replace(worker, crash_count=1 if long_ago else worker.crash_count + 1, last_crash_unix=at)


def _restarted(worker: Worker, why: str, at: float, policy: Policy) -> Move:
    if worker.crash_count >= policy.crash_limit:
        return error(worker, f"{why}; {worker.crash_count} crashes, not restarted again")
    due = at + policy.restart_backoff_secs * 2 ** (worker.crash_count - 1)
    # The next session takes the place of the last screen.
    notice = Notify("crashed", f"{worker.name}: {why}; restarting", escalates=True)
    return Move(with_timer(worker, RESTART, due), (notice,), why)


def session_vanished(worker: Worker, event: ev.SessionVanished, policy: Policy) -> Move:
    if worker.session is not Session.UP:
        return Move(worker)
    gone = replace(worker, session=Session.DOWN, turn=Turn.OVER)
    if event.while_away or awaits(worker, StopSession, RemoveWorker):
        return Move(gone)
    if policy.recovers:
        return _restarted(_counted(gone, event.at, policy), "its session is gone", event.at, policy)
    return Move(
        gone, (Notify("offline", f"{worker.name}: its session is gone; `llmc restart {worker.name}` brings it back"),)
    )


def not_started(worker: Worker, event: ev.SessionFailed, policy: Policy) -> Move:
    worker = replace(worker, pending=(), session=Session.CRASHED, turn=Turn.OVER, start_dialog="")
    why = f"the agent did not start: {event.reason}" + (f" ({event.last_words})" if event.last_words else "")
    # One that never came up has nothing to go back to yet: whoever started it is told at once.
    if not policy.recovers or event.hopeless or not worker.crash_count:
        return error(worker, why)
    return _restarted(_counted(worker, event.at, policy), why, event.at, policy)


def came_back(worker: Worker, event: ev.SessionReady, policy: Policy, *, given_up: bool) -> Move:
    """The session is up again: an agent that was in the middle of something is let go on, or somebody is told.

    What it has crashed at as often as it may is not given to it again: only a person says so.
    """
    if worker.pending or worker.work not in (Work.WORKING, Work.REJECTED):
        return Move(worker)
    if given_up:
        why = f"it crashed {worker.crash_count} times at its task, which was not sent again"
        return needs_input(worker, f"{why}; `llmc message {worker.name} ...` lets it go on")
    has = "it has its conversation" if event.resumed else "it begins a new conversation"
    if policy.recovers and event.go_on:
        return Move(with_steps(worker, Deliver(event.go_on, Purpose.GO_ON)), detail=has)
    resend = f"`llmc restart {worker.name} --resend` gives it its task again"
    how = f"`llmc message {worker.name} ...` lets it go on" if event.resumed else resend
    note = f"{worker.name} is back and was {worker.work.value}; {has}; {how}"
    return Move(worker, (Notify("back", note),), has)
