"""What the result of an effect does to a worker."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import (
    AskToResolve,
    CheckResolution,
    ClearConversation,
    Deliver,
    MergeWork,
    Notify,
    Purpose,
    RemoveWorker,
    ResetWorktree,
    StartSession,
    StopSession,
    from_step,
)
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.conflicts import back_in_conflict
from llmc.core.lifecycle.transitions.crashes import came_back
from llmc.core.lifecycle.transitions.queued import with_sent
from llmc.core.lifecycle.transitions.shared import (
    Move,
    about_joined,
    awaits,
    error,
    idle,
    needs_input,
    pending_step,
    return_to,
    undone,
    with_steps,
    with_tip,
    without_step,
    without_work_steps,
)
from llmc.core.lifecycle.transitions.undelivered import not_sent
from llmc.model import Outcome, Proof, Session, Step, Turn, Work, Worker


def step_begun(worker: Worker, event: ev.StepBegun, policy: Policy) -> Move:
    marked = tuple(replace(step, begun=True) if step.id == event.step else step for step in worker.pending)
    return Move(replace(worker, pending=marked, heard_prompts=()))


def session_launched(worker: Worker, event: ev.SessionLaunched, policy: Policy) -> Move:
    """Whatever turn the last session was in ended with it."""
    launched = replace(worker, launch=event.launch, launched_at_unix=event.at, took_up=event.takes_up)
    return Move(replace(launched, turn=Turn.OVER, sent=(), leftover=""))


def session_ready(worker: Worker, event: ev.SessionReady, policy: Policy) -> Move:
    worker = replace(
        without_step(worker, event.step),
        session=Session.UP,
        turn=Turn.OVER,
        reports_events=event.reports_events,
        start_dialog="",
        hint=event.hint,
        worktree_lost=False,
    )
    given_up = policy.recovers and worker.work is Work.ERROR and worker.crash_count >= policy.crash_limit
    if worker.work is Work.ERROR and worker.resume_work is not None:
        # Work that turned up meanwhile is not forgotten.
        found = worker.resume_work is Work.IDLE and worker.commit_sha is not None
        worker = return_to(worker, Work.NEEDS_REVIEW if found else worker.resume_work)
    if worker.work is Work.REBASING:
        return back_in_conflict(worker, policy, given_up=given_up)
    return came_back(worker, event, policy, given_up=given_up)


def start_waits(worker: Worker, event: ev.StartWaits, policy: Policy) -> Move:
    if event.asked == worker.start_dialog:
        return Move(worker)
    waits = replace(worker, session=Session.STARTING, start_dialog=event.asked)
    if not event.asked:
        return Move(waits, detail="its question is answered, the start goes on", evident=True)
    why = event.advice or f"it asks at its start: {event.asked}"
    how = f"`llmc answer {worker.name} ...`" if event.options else f"`llmc attach {worker.name}`"
    choices = f" ({event.options})" if event.options else ""
    return Move(
        waits, (Notify("needs_input", f"{worker.name} waits for you: {why}{choices}; {how}"),), why, evident=True
    )


def session_stopped(worker: Worker, event: ev.SessionStopped, policy: Policy) -> Move:
    worker = replace(without_step(worker, event.step), turn=Turn.OVER, start_dialog="")
    starts_again = awaits(worker, StartSession)
    return Move(replace(worker, session=Session.STARTING if starts_again else Session.DOWN))


def text_sent(worker: Worker, event: ev.TextSent, policy: Policy) -> Move:
    step = pending_step(worker, event.step)
    effect = from_step(step) if step is not None else None
    worker = without_step(worker, event.step)
    if not event.refused:
        worker = replace(worker, leftover=event.leftover)
    if isinstance(effect, Deliver) and effect.purpose == Purpose.NUDGE:
        asked = replace(with_sent(worker, effect.text, event.outcome, event.proof), nudged_at_unix=event.at)
        return Move(asked, detail=f"{event.outcome.value} {event.reason}".strip(), is_activity=False)
    if event.outcome is Outcome.UNDELIVERED:
        return not_sent(worker, event, effect, policy)
    if isinstance(effect, ClearConversation):
        return Move(worker)
    worker = _without_reports(worker, event)
    if isinstance(effect, Deliver):
        worker = with_sent(worker, effect.text, event.outcome, event.proof)
        worker = replace(worker, round=max(worker.round, effect.round))
        worker = worker if worker.reports_events else replace(worker, last_words="")
    if event.outcome is Outcome.UNKNOWN:
        why = f"it is not known whether {worker.name} got the text: {event.reason}"
        return Move(replace(worker, resume_work=_kept_for_rebase(worker)), (Notify("unknown", why),), why)
    turn = worker.turn if worker.turn is Turn.OPEN or worker.reports_events else Turn.UNKNOWN
    return Move(replace(worker, turn=turn, resume_work=_kept_for_rebase(worker)), detail=f"proof: {event.proof.value}")


def _without_reports(worker: Worker, event: ev.TextSent) -> Worker:
    """Its very first text was sent and it did not report it: until a report comes, it counts as one without.

    An agent that has reported a prompt before may be late, or may have been given its text by hand.
    """
    if event.proof is Proof.HOOK or worker.heard_prompts or worker.turn is Turn.OPEN:
        return worker
    return replace(worker, reports_events=False, turn=Turn.UNKNOWN)


def _kept_for_rebase(worker: Worker) -> Work | None:
    return worker.resume_work if worker.work in (Work.REBASING, Work.ERROR) else None


def rebase_clean(worker: Worker, event: ev.RebaseClean, policy: Policy) -> Move:
    before = _before_rebase(worker)
    worker = replace(
        without_step(worker, event.step),
        base_sha=event.base,
        rebase_started_at_unix=None,
        conflicted_files=(),
        resolution_attempts=0,
    )
    if event.sha is None:
        return _nothing_left(replace(worker, commit_sha=None), before)
    rebased = return_to(with_tip(worker, event.sha), before)
    return Move(rebased, about_joined(worker, event.joined), f"rebased onto {event.base[:12]}")


def _nothing_left(worker: Worker, before: Work) -> Move:
    why = "nothing is left of its work after the rebase: the branch has it already"
    waits = worker.work in (Work.REBASING, Work.NEEDS_REVIEW)
    return needs_input(worker, why) if waits else Move(return_to(worker, before), detail=why)


def _before_rebase(worker: Worker) -> Work:
    """What the work was, when nothing but the rebase has happened since."""
    if worker.work is not Work.REBASING:
        return worker.work
    return worker.resume_work or Work.NEEDS_REVIEW


def work_merged(worker: Worker, event: ev.WorkMerged, policy: Policy) -> Move:
    done = replace(idle(without_step(worker, event.step)), base_sha=event.sha, crash_count=0)
    # Cleaning up is a step of its own: if it fails, the merge has happened all the same.
    unseen = "" if event.reviewed else ", not reviewed"
    if not event.unattended:
        return Move(with_steps(done, ResetWorktree()), detail=f"merged as {event.sha[:12]}{unseen}")
    words = f"landed unattended, checks passed: merged as {event.sha[:12]}{unseen}"
    back = f"; `llmc undo --landing {worker.task}` takes it back" if worker.task else ""
    notice = Notify("landed", f"{worker.name} {words}{back}")
    return Move(with_steps(done, ResetWorktree()), (notice,), words)


def merge_refused(worker: Worker, event: ev.MergeRefused, policy: Policy) -> Move:
    return Move(without_step(worker, event.step), detail=event.reason)


def worktree_reset(worker: Worker, event: ev.WorktreeReset, policy: Policy) -> Move:
    step = pending_step(worker, event.step)
    effect = from_step(step) if step is not None else None
    worker = replace(without_step(worker, event.step), base_sha=event.base)
    if isinstance(effect, ResetWorktree) and effect.drops_task:
        worker = idle(worker)
    return Move(worker)


def step_failed(worker: Worker, event: ev.StepFailed, policy: Policy) -> Move:
    step = pending_step(worker, event.step)
    effect = from_step(step) if step is not None else None
    if step is not None and step.begun and isinstance(effect, Deliver):
        # It failed on the way: the agent may have the text all the same.
        return text_sent(worker, ev.TextSent(event.at, event.step, Outcome.UNKNOWN, Proof.NONE, event.reason), policy)
    if step is not None and worker.work is Work.IDLE and effect == ResetWorktree():
        return _left_to_the_next(worker, step, event)
    before = worker.resume_work
    worker = without_work_steps(without_step(worker, event.step))
    if isinstance(effect, Deliver) and effect.purpose == Purpose.NUDGE:
        return Move(replace(worker, nudged_at_unix=event.at), detail=event.reason, is_activity=False)
    if isinstance(effect, StartSession):
        return error(replace(worker, session=Session.CRASHED, turn=Turn.OVER), event.reason)
    if worker.session is Session.STARTING and not awaits(worker, StartSession, StopSession):
        worker = replace(worker, session=Session.DOWN)  # nobody starts it any more
    if worker.work is Work.IDLE or isinstance(effect, MergeWork | StopSession | RemoveWorker):
        return Move(worker, (Notify("failed", f"{worker.name}: {event.reason}"),), event.reason)
    if worker.work is Work.REBASING and isinstance(effect, AskToResolve | CheckResolution | Deliver):
        return Move(worker, (Notify("failed", f"{worker.name}: {event.reason}"),), event.reason, evident=True)
    if before is not None and worker.work is not Work.ERROR:
        restored = replace(undone(worker, before), rebase_started_at_unix=None)
        return Move(restored, (Notify("failed", f"{worker.name}: {event.reason}"),), event.reason)
    return error(worker, event.reason)


def _left_to_the_next(worker: Worker, step: Step, event: ev.StepFailed) -> Move:
    """Its work has landed and is still in its worktree: nothing may be built on that, and it is tried again.

    After all other steps: whatever keeps it from being done keeps nobody from stopping the agent.
    """
    others = without_step(worker, step.id)
    worker = replace(others, pending=(*others.pending, step))
    if worker.evidence.detail == event.reason:
        return Move(worker, is_activity=False)
    notice = Notify("failed", f"{worker.name}: {event.reason}")
    return Move(worker, (notice,), event.reason, evident=True, is_activity=False)
