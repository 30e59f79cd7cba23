"""What a user's command does to a worker."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import (
    AskToResolve,
    ClearConversation,
    Deliver,
    MergeWork,
    Purpose,
    RebaseWork,
    RemoveWorker,
    ResetWorktree,
    StartSession,
    StopSession,
    from_step,
)
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.shared import (
    RESTART,
    Move,
    awaits,
    idle,
    require_free,
    require_online,
    with_steps,
    without_timer,
)
from llmc.errors import IllegalEventError
from llmc.model import Reviewed, Session, Turn, Work, Worker


def task_given(worker: Worker, event: ev.TaskGiven, policy: Policy) -> Move:
    require_free(worker)
    require_online(worker)
    given = replace(
        worker,
        work=Work.WORKING,
        resume_work=Work.IDLE,
        current_prompt=event.prompt,
        task=event.task,
        commit_sha=None,
        reviewed=None,
        turn=Turn.OVER,
        conversation="",
        last_words="",
    )
    return Move(with_steps(given, ResetWorktree(), ClearConversation(), Deliver(event.text, Purpose.TASK)))


def message_given(worker: Worker, event: ev.MessageGiven, policy: Policy) -> Move:
    require_free(worker)
    require_online(worker)
    goes_on = {Work.NEEDS_INPUT, Work.NEEDS_REVIEW, Work.ERROR}
    if worker.work in goes_on:
        worker = replace(worker, work=Work.WORKING, resume_work=worker.work)
    return Move(with_steps(worker, Deliver(event.text, Purpose.MESSAGE)), detail=event.why)


def answer_given(worker: Worker, event: ev.AnswerGiven, policy: Policy) -> Move:
    if worker.work is Work.NEEDS_INPUT:
        worker = replace(worker, work=Work.WORKING)
    return Move(worker, detail=event.choice)


def review_opened(worker: Worker, event: ev.ReviewOpened, policy: Policy) -> Move:
    return Move(replace(worker, reviewed=Reviewed(event.commit, event.tree, event.base)), is_activity=False)


def work_rejected(worker: Worker, event: ev.WorkRejected, policy: Policy) -> Move:
    require_free(worker)
    require_online(worker)
    sent_back = replace(
        worker,
        work=Work.REJECTED,
        resume_work=Work.NEEDS_REVIEW,
        rejected_sha=worker.commit_sha,
        turn=Turn.OVER,
        feedback=event.feedback,
    )
    number = event.round.number if event.round is not None else 0
    return Move(with_steps(sent_back, Deliver(event.text, Purpose.FEEDBACK, round=number)))


def accept_asked(worker: Worker, event: ev.AcceptAsked, policy: Policy) -> Move:
    require_free(worker)
    return Move(with_steps(worker, MergeWork(event.message, event.changed, event.tree, event.unattended)))


def landed_at_hub(worker: Worker, event: ev.LandedAtHub, policy: Policy) -> Move:
    require_free(worker)
    done = replace(idle(worker), base_sha=event.sha, crash_count=0)
    return Move(with_steps(done, ResetWorktree()), detail=f"landed at the hub as {event.sha[:12]}")


def rebase_asked(worker: Worker, event: ev.RebaseAsked, policy: Policy) -> Move:
    require_free(worker)
    if worker.turn is Turn.OPEN:
        raise IllegalEventError(f"{worker.name} is in the middle of a turn", "wait until it has finished, then rebase")
    if worker.work is Work.REBASING:
        require_online(worker)
        return Move(with_steps(worker, AskToResolve()))
    moved = replace(
        worker,
        work=Work.REBASING,
        resume_work=worker.work,
        rebase_started_at_unix=event.at,
        conflicted_files=(),
    )
    return Move(with_steps(moved, RebaseWork(event.onto)))


def reset_asked(worker: Worker, event: ev.ResetAsked, policy: Policy) -> Move:
    # An agent in the middle of a turn would go on writing into the worktree: it starts afresh.
    stops = awaits(worker, StopSession) or (worker.session is Session.UP and worker.turn is not Turn.OVER)
    starts = awaits(worker, StartSession) or (stops and not worker.stopped_by_user)
    before = (StopSession(),) if stops else ()
    after = (StartSession(),) if starts else ()
    return Move(with_steps(replace(worker, pending=()), *before, ResetWorktree(True, event.gives_up), *after))


def start_asked(worker: Worker, event: ev.StartAsked, policy: Policy) -> Move:
    if worker.session in (Session.UP, Session.STARTING):
        return Move(worker)
    if event.named and worker.work is Work.ERROR:
        worker = replace(worker, crash_count=0)
    starting = replace(without_timer(worker, RESTART), session=Session.STARTING, stopped_by_user=False)
    return Move(with_steps(starting, StartSession()))


def stop_asked(worker: Worker, event: ev.StopAsked, policy: Policy) -> Move:
    stopping = replace(without_timer(worker, RESTART), stopped_by_user=True)
    kept = tuple(step for step in stopping.pending if not isinstance(from_step(step), StartSession | StopSession))
    return Move(with_steps(replace(stopping, pending=kept), StopSession(event.force)))


def removal_asked(worker: Worker, event: ev.RemovalAsked, policy: Policy) -> Move:
    return Move(with_steps(replace(worker, pending=(), stopped_by_user=True), RemoveWorker()))
