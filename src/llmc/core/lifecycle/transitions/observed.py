"""What git, the screen, the process and the clock do to a worker."""

from __future__ import annotations

import math
from dataclasses import replace

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import OWNS_WORKTREE, Notify, RemoveWorker, StartSession, StopSession
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.blocked import GO_ON, turn_broken, wait_is_over
from llmc.core.lifecycle.transitions.conflicts import escalated, helped
from llmc.core.lifecycle.transitions.shared import (
    BY_ANSWER,
    COMMIT_GRACE,
    ELSEWHERE_GRACE,
    REBASE_ESCALATE,
    REBASE_HELP,
    RESTART,
    Move,
    awaits,
    for_review,
    is_new_work,
    is_outdated,
    needs_input,
    not_on_its_branch,
    not_ours,
    waits_for_person,
    with_last_words,
    with_steps,
    with_timer,
    without_timer,
)
from llmc.core.lifecycle.transitions.user_commands import start_asked
from llmc.model import Session, Turn, Work, Worker

CHECKS = "checks"
"""The signal of checks that ran."""


def commit_seen(worker: Worker, event: ev.CommitSeen, policy: Policy) -> Move:
    if worker.work is Work.REBASING or awaits(worker, *OWNS_WORKTREE):
        return Move(worker)  # LLMC itself moves the branch
    if not is_new_work(worker, event.sha):
        return Move(worker)
    if worker.work in (Work.NEEDS_REVIEW, Work.ERROR):
        return Move(replace(worker, commit_sha=event.sha), detail=f"commit {event.sha[:12]}")
    if worker.reports_events:
        if worker.turn is Turn.OVER and not worker.pending:
            return for_review(worker, event.sha)
        return Move(replace(worker, commit_sha=event.sha), detail=f"commit {event.sha[:12]}, the turn goes on")
    # No reports from this agent: a quiet screen decides, and after the grace time the commit alone.
    seen = replace(worker, commit_sha=event.sha)
    return Move(with_timer(seen, COMMIT_GRACE, event.at + policy.commit_grace_secs), detail=f"commit {event.sha[:12]}")


def commits_gone(worker: Worker, event: ev.CommitsGone, policy: Policy) -> Move:
    if worker.work is Work.REBASING or awaits(worker, *OWNS_WORKTREE):
        return Move(worker)
    worker = replace(worker, commit_sha=None)
    if worker.work is Work.NEEDS_REVIEW:
        return needs_input(worker, event.reason)
    return Move(worker, detail=event.reason)


def worktree_lost(worker: Worker, event: ev.WorktreeLost, policy: Policy) -> Move:
    if worker.worktree_lost or awaits(worker, RemoveWorker):
        return Move(worker)
    lost = replace(worker, worktree_lost=True)
    why = "its worktree is gone"
    runs = worker.session is Session.UP and not awaits(worker, StartSession, StopSession)
    if not policy.restores_worktrees or not runs:
        told = f"{worker.name}: {why}; `llmc restart {worker.name}` makes it again from its branch"
        return Move(lost, (Notify("worktree", told),), why, evident=True, is_activity=False)
    anew = with_steps(replace(lost, pending=()), StopSession(force=True), StartSession())
    told = f"{worker.name}: {why}; it is made again from its branch, and its agent is started in it"
    notices = (Notify("worktree", told),)
    return Move(replace(anew, pending=anew.pending + lost.pending), notices, why, evident=True, is_activity=False)


def worktree_found(worker: Worker, event: ev.WorktreeFound, policy: Policy) -> Move:
    return Move(replace(worker, worktree_lost=False), is_activity=False)


def work_restored(worker: Worker, event: ev.WorkRestored, policy: Policy) -> Move:
    """Work and task come back together; an agent that is at work on something keeps what it works on."""
    if worker.work not in (Work.IDLE, Work.NEEDS_INPUT, Work.NEEDS_REVIEW) or worker.pending:
        return Move(worker)
    task = event.task_id or (worker.task if event.task == worker.current_prompt else "")
    restored = replace(worker, current_prompt=event.task, task=task, reviewed=None, rejected_sha=None)
    if event.commit is not None:
        return for_review(restored, event.commit)
    return needs_input(replace(restored, commit_sha=None), "its work was restored from a backup")


def commit_elsewhere(worker: Worker, event: ev.CommitElsewhere, policy: Policy) -> Move:
    """The work is not lost, but no review would show it: a person has to say what is to become of it."""
    if worker.work not in (Work.WORKING, Work.REJECTED) or worker.pending:
        return Move(worker)
    why = not_on_its_branch(worker, event.where)
    if worker.reports_events:
        return needs_input(worker, why) if worker.turn is Turn.OVER else Move(worker)
    due = worker.timers.get(ELSEWHERE_GRACE)
    if due is None:
        return Move(with_timer(worker, ELSEWHERE_GRACE, event.at + policy.commit_grace_secs), detail=why)
    return needs_input(without_timer(worker, ELSEWHERE_GRACE), why) if event.at >= due else Move(worker)


def screen_read(worker: Worker, event: ev.ScreenRead, policy: Policy) -> Move:
    if worker.work not in (Work.WORKING, Work.REJECTED) or worker.pending or is_outdated(worker, event.at):
        return Move(worker)
    before = worker
    if event.state == "READY":
        from llmc.core.screen.last_words import last_sentence

        worker = replace(worker, last_words=last_sentence(event.said) or worker.last_words)
    # Of an agent that reports nothing the screen is the only witness, however little LLMC may do by itself.
    may_move = event.confident and (policy.screen_may_move_work or not worker.reports_events)
    quiet = event.state == "READY" and (may_move or not worker.reports_events)
    if quiet and is_new_work(worker, worker.commit_sha):
        assert worker.commit_sha is not None
        return for_review(worker, worker.commit_sha)
    if not may_move:
        return Move(before)
    if event.state == "NEEDS_CONFIRMATION":
        return needs_input(worker, f"its screen shows a dialog ({event.detail or 'unknown kind'})", BY_ANSWER)
    if event.state == "ERROR":
        why = f"its screen shows an error ({event.detail or 'unknown kind'})"
        return turn_broken(replace(worker, turn=Turn.OVER), event.detail or "", why, event.at, event.until, policy)
    if event.state == "READY" and (event.rested or policy.screen_may_move_work):
        # Agents do not report everything: no CLI tells of every Esc, nor of every failure of its provider.
        why = not_ours(event.foreign) if event.foreign else with_last_words(_why_quiet(worker), worker)
        return needs_input(worker, why)
    return Move(before)


def dialog_seen(worker: Worker, event: ev.DialogSeen, policy: Policy) -> Move:
    """Options with a mark are no guess: whoever stands in front of them goes on with an answer and not without."""
    why = f"asks: {event.asked}"
    if worker.work in (Work.WORKING, Work.REJECTED):
        return needs_input(worker, why, BY_ANSWER)
    return Move(worker, (waits_for_person(worker, why, BY_ANSWER),), why)


def dialog_confirmed(worker: Worker, event: ev.DialogConfirmed, policy: Policy) -> Move:
    goes_on = replace(worker, work=Work.WORKING) if worker.work is Work.NEEDS_INPUT else worker
    return Move(goes_on, detail=event.what)


def screen_moved(worker: Worker, event: ev.ScreenMoved, policy: Policy) -> Move:
    return Move(replace(worker, last_activity_unix=event.at))


def _why_quiet(worker: Worker) -> str:
    if worker.reports_events:
        return "its screen is quiet and the end of its turn was not reported"
    return "stopped without a commit"


def session_found(worker: Worker, event: ev.SessionFound, policy: Policy) -> Move:
    if worker.session is Session.UP or awaits(worker, StartSession, StopSession, RemoveWorker):
        return Move(worker)
    return Move(replace(worker, session=Session.UP, reports_events=event.reports_events, stopped_by_user=False))


def woke(worker: Worker, event: ev.Woke, policy: Policy) -> Move:
    if worker.timers.get(event.timer, math.inf) > event.at:
        return Move(worker)  # it was put off meanwhile, or is not wanted any more
    worker = without_timer(worker, event.timer)
    if event.timer == COMMIT_GRACE:
        return _grace_is_over(worker)
    if event.timer == REBASE_HELP:
        return helped(worker, event.at, policy)
    if event.timer == REBASE_ESCALATE:
        return escalated(worker, event.at)
    if event.timer == GO_ON:
        return wait_is_over(worker, policy)
    down = worker.session in (Session.CRASHED, Session.DOWN)
    if event.timer == RESTART and down and not worker.stopped_by_user and policy.recovers:
        return start_asked(worker, ev.StartAsked(event.at), policy)
    return Move(worker)


def _grace_is_over(worker: Worker) -> Move:
    waiting = worker.work in (Work.IDLE, Work.WORKING, Work.REJECTED, Work.NEEDS_INPUT)
    if waiting and worker.commit_sha is not None and is_new_work(worker, worker.commit_sha):
        return for_review(worker, worker.commit_sha)
    return Move(worker)


def checks_ran(worker: Worker, event: ev.ChecksRan, policy: Policy) -> Move:
    if worker.work is not Work.NEEDS_REVIEW or worker.commit_sha != event.commit:
        return Move(worker)  # it is about other work by now
    if event.failed:
        notice = Notify("checks_failed", f"{worker.name}: {event.failed}; `llmc review {worker.name}` shows more")
        return Move(worker, (notice,), event.failed, evident=True, is_activity=False)
    told = worker.evidence.signal == CHECKS
    return Move(worker, detail="all checks pass", evident=told, is_activity=False)
