"""What becomes of a worker whose rebase has stopped for conflicts: asked, helped, checked, or handed to the person."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import AskToResolve, CheckResolution, Deliver, Notify, Purpose, RebaseWork
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.shared import (
    REBASE_ESCALATE,
    REBASE_HELP,
    Move,
    about_joined,
    awaits,
    for_review,
    needs_input,
    with_steps,
    with_timer,
    with_tip,
    without_step,
    without_timer,
)
from llmc.model import Session, Turn, Work, Worker


def rebase_conflicted(worker: Worker, event: ev.RebaseConflicted, policy: Policy) -> Move:
    worker = without_step(worker, event.step)
    if not event.text and not event.for_person:
        return _check(worker) if _is_resolved(worker) else Move(worker, detail="there is nothing left to resolve")
    worker = replace(
        with_tip(worker, event.began_at or worker.commit_sha),
        conflicted_files=event.files,
        resolution_attempts=worker.resolution_attempts + 1,
        rebase_started_at_unix=worker.rebase_started_at_unix or event.at,
        turn=Turn.OVER,
    )
    where = ", ".join(event.files) or "files that are all staged"
    joined = about_joined(worker, event.joined)
    if event.for_person:
        told = f"{worker.name} has conflicts in {where}; resolve them yourself: `llmc attach {worker.name}`"
        return Move(worker, (Notify("conflict", told), *joined), where, evident=True)
    notice = Notify("conflict", f"{worker.name} has conflicts in {where}")
    asked = with_steps(_with_clocks(worker, event.at, policy), Deliver(event.text, Purpose.CONFLICT))
    return Move(asked, (notice, *joined), where)


def _with_clocks(worker: Worker, at: float, policy: Policy) -> Worker:
    """From here on the agent has its time: first it is helped, then the person is called."""
    helped_at = with_timer(worker, REBASE_HELP, at + policy.rebase_help_after_secs)
    return with_timer(helped_at, REBASE_ESCALATE, at + policy.rebase_escalate_after_secs)


def conflicts_changed(worker: Worker, event: ev.ConflictsChanged, policy: Policy) -> Move:
    """Some are resolved, or the next commit has others: the agent gets on."""
    if not _agent_rebases(worker) or worker.rebase_started_at_unix is None:
        return Move(worker)
    others = bool(set(event.files) - set(worker.conflicted_files))
    attempts = min(1, worker.resolution_attempts) if others else worker.resolution_attempts
    worker = replace(worker, conflicted_files=event.files, resolution_attempts=attempts)
    return Move(_with_clocks(worker, event.at, policy), detail=", ".join(event.files) or "all files are staged")


def conflicts_resolved(worker: Worker, event: ev.ConflictsResolved, policy: Policy) -> Move:
    if not _agent_rebases(worker) or awaits(worker, CheckResolution):
        return Move(worker)
    worker = replace(
        without_timer(worker, REBASE_HELP, REBASE_ESCALATE),
        commit_sha=event.sha,
        base_sha=event.base,
        rebase_started_at_unix=None,
        conflicted_files=(),
    )
    if event.sha is None:
        why = f"nothing is left of its work: the rebase dropped it; `llmc undo {worker.name}` has it"
        return needs_input(worker, why)
    notices = _about_dropped(worker, event.dropped)
    if worker.turn is Turn.OPEN and worker.reports_events:
        return Move(worker, notices, "the conflicts are resolved, the turn goes on")
    move = _check(worker)
    return replace(move, notices=notices)


def _about_dropped(worker: Worker, count: int) -> tuple[Notify, ...]:
    if not count:
        return ()
    commits = "1 of its commits was" if count == 1 else f"{count} of its commits were"
    return (Notify("conflict", f"{worker.name}: {commits} dropped in the rebase; `llmc undo {worker.name}` has all"),)


def _check(worker: Worker) -> Move:
    return Move(with_steps(worker, CheckResolution()), detail="the conflicts are resolved, which is checked now")


def _is_resolved(worker: Worker) -> bool:
    return worker.work is Work.REBASING and worker.rebase_started_at_unix is None and not worker.pending


def _agent_rebases(worker: Worker) -> bool:
    """The rebase has stopped for conflicts, and the agent is to finish it."""
    return worker.work is Work.REBASING and not awaits(worker, RebaseWork)


def resolution_checked(worker: Worker, event: ev.ResolutionChecked, policy: Policy) -> Move:
    worker = without_step(worker, event.step)
    if worker.work is not Work.REBASING:
        return Move(worker)
    if not event.problem and worker.commit_sha is not None:
        return for_review(replace(worker, resolution_attempts=0), worker.commit_sha)
    why = f"its conflicts are resolved, but {event.problem or 'its commit is gone'}"
    if not (_may_ask_again(worker, policy) and worker.session is Session.UP and event.text):
        return needs_input(worker, why)
    asked = replace(worker, resolution_attempts=worker.resolution_attempts + 1, turn=Turn.OVER)
    asked = with_timer(asked, REBASE_ESCALATE, event.at + policy.rebase_escalate_after_secs)
    notice = Notify("conflict", f"{worker.name}: {why}; it was asked to fix that")
    return Move(with_steps(asked, Deliver(event.text, Purpose.CONFLICT)), (notice,), why, evident=True)


def _may_ask_again(worker: Worker, policy: Policy) -> bool:
    return policy.helps_with_conflicts and worker.resolution_attempts < policy.conflict_attempts


def turn_ended_in_rebase(worker: Worker, event: ev.TurnEnded, policy: Policy) -> Move:
    if awaits(worker, RebaseWork, AskToResolve, CheckResolution, Deliver):
        return Move(worker)
    if worker.rebase_started_at_unix is None:
        return _ended_with_resolution(worker, event)
    if event.rebase_over:
        return Move(worker)
    why = "its turn ended with the conflicts unresolved"
    if _may_ask_again(worker, policy):
        return Move(with_steps(worker, AskToResolve(help=True)), detail=why)
    return Move(worker, (Notify("needs_input", f"{worker.name}: {why}"),), why, evident=True)


def _ended_with_resolution(worker: Worker, event: ev.TurnEnded) -> Move:
    commit = event.commit or worker.commit_sha  # it may have been amended since the rebase was over
    if commit is None:
        return needs_input(worker, "its turn ended with no commit")
    return _check(replace(worker, commit_sha=commit))


def rebase_aborted(worker: Worker, event: ev.RebaseAborted, policy: Policy) -> Move:
    if not _agent_rebases(worker):
        return Move(worker)
    worker = replace(worker, rebase_started_at_unix=None, conflicted_files=())
    if event.quit:
        why = f"the rebase was left half done: its worktree is not on its branch {worker.branch} any more"
        return needs_input(worker, why)
    why = "the rebase was aborted; the branch is as it was before"
    if event.sha is None:
        return needs_input(worker, why)
    move = for_review(worker, event.sha)
    return replace(move, notices=(Notify("needs_review", f"{worker.name}: {why}"),), detail=why)


def helped(worker: Worker, at: float, policy: Policy) -> Move:
    """Its time is over without a sign that it gets on."""
    if not _stands_in_conflict(worker) or not _may_ask_again(worker, policy) or worker.pending:
        return Move(worker)
    if worker.turn is Turn.OPEN and worker.reports_events:
        return Move(with_timer(worker, REBASE_HELP, at + policy.rebase_help_after_secs))  # it is at work
    if worker.session is not Session.UP:
        return Move(worker)
    # After a gap both times are over at once: help has its own before the person is called.
    left = policy.rebase_escalate_after_secs - policy.rebase_help_after_secs
    worker = with_timer(worker, REBASE_ESCALATE, max(worker.timers.get(REBASE_ESCALATE, 0.0), at + left))
    return Move(with_steps(worker, AskToResolve(help=True)), detail="it does not get on with its conflicts")


def escalated(worker: Worker, at: float) -> Move:
    if worker.work is not Work.REBASING:
        return Move(worker)
    where = f" in {', '.join(worker.conflicted_files)}" if worker.conflicted_files else ""
    since = worker.rebase_started_at_unix
    long = f" for {max(1, round((at - since) / 60))} min" if since is not None else ""
    why = f"it stands in conflicts{where}{long}"
    notice = Notify("conflict", f"{worker.name}: {why}; `llmc attach {worker.name}` to help", escalates=True)
    return Move(worker, (notice,), why, evident=True)


def _stands_in_conflict(worker: Worker) -> bool:
    return worker.work is Work.REBASING and worker.rebase_started_at_unix is not None


def back_in_conflict(worker: Worker, policy: Policy, *, given_up: bool) -> Move:
    """The agent was started again and knows nothing of the conflicts that it was asked to resolve."""
    if not _stands_in_conflict(worker) or worker.pending:
        return Move(worker)
    if policy.helps_with_conflicts and not given_up:
        return Move(with_steps(worker, AskToResolve()))
    note = f"{worker.name} is back in the middle of its conflicts; `llmc rebase {worker.name}` asks it to resolve them"
    return Move(worker, (Notify("back", note),))
