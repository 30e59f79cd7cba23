"""What the agent's own reports do to a worker."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.delivery.texts import prompt_digests
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.conflicts import turn_ended_in_rebase
from llmc.core.lifecycle.transitions.interrupts import reported_interrupt, was_interrupted
from llmc.core.lifecycle.transitions.queued import still_queued, without_heard
from llmc.core.lifecycle.transitions.shared import (
    BY_ANSWER,
    Move,
    for_review,
    is_new_work,
    needs_input,
    not_on_its_branch,
    not_ours,
    waits_for_person,
    with_last_words,
)
from llmc.core.lifecycle.transitions.silence import is_nudge
from llmc.model import Session, Turn, Work, Worker

HEARD_PROMPTS_KEPT = 20
STOPPED = "stopped with"
"""So begins what is said of a turn that ended without a commit."""
NOTED_EVERY_SECS = 30.0


def prompt_heard(worker: Worker, event: ev.PromptHeard, policy: Policy) -> Move:
    heard = (*worker.heard_prompts, event.sha256)[-HEARD_PROMPTS_KEPT:]
    if event.outlived:
        return Move(replace(worker, heard_prompts=heard), is_activity=False)
    worker = replace(
        worker,
        turn=_turn_begun(worker),
        reports_events=True,
        heard_prompts=heard,
        last_words=worker.last_words if worker.turn is Turn.OPEN else "",
        sent=without_heard(worker.sent, event.sha256),
        conversation=event.conversation or worker.conversation,
        blocked=None,
        leftover="" if event.sha256 in prompt_digests(worker.leftover) else worker.leftover,
    )
    # A person may have typed into the terminal: the agent works again, whoever asked it to.
    if worker.work in (Work.NEEDS_INPUT, Work.NEEDS_REVIEW) and not _has_ended(worker):
        worker = replace(worker, work=Work.WORKING)
    return Move(worker, is_activity=not (worker.nudges and is_nudge(event.sha256, policy)))


def _turn_begun(worker: Worker) -> Turn:
    return worker.turn if _has_ended(worker) else Turn.OPEN


def _has_ended(worker: Worker) -> bool:
    """A report may be read after the end of the agent that wrote it: no turn is open then, and nobody works."""
    return worker.session in (Session.DOWN, Session.CRASHED)


def activity_heard(worker: Worker, event: ev.ActivityHeard, policy: Policy) -> Move:
    worker = replace(worker, turn=_turn_begun(worker), reports_events=True, blocked=None)
    if worker.work is Work.NEEDS_INPUT and not _has_ended(worker):
        worker = replace(worker, work=Work.WORKING)
    # Agents use tools all the time: that they are alive is noted now and then.
    if event.at - worker.last_activity_unix >= NOTED_EVERY_SECS:
        worker = replace(worker, last_activity_unix=event.at)
    return Move(worker, detail=event.tool)


def permission_wanted(worker: Worker, event: ev.PermissionWanted, policy: Policy) -> Move:
    return _asks(worker, f"it asks for permission: {event.what}")


def question_asked(worker: Worker, event: ev.QuestionAsked, policy: Policy) -> Move:
    return _asks(worker, f"it asks: {event.what}")


def _asks(worker: Worker, why: str) -> Move:
    worker = replace(worker, reports_events=True)
    if worker.work in (Work.WORKING, Work.REJECTED, Work.NEEDS_INPUT):
        return needs_input(worker, why, BY_ANSWER)
    return Move(worker, (waits_for_person(worker, why, BY_ANSWER),), why)


def turn_ended(worker: Worker, event: ev.TurnEnded, policy: Policy) -> Move:
    if event.background:
        return Move(worker, detail="the turn is over, something still runs in the background")
    if was_interrupted(worker) and not reported_interrupt(worker):
        return Move(replace(worker, reports_events=True, commit_sha=event.commit or worker.commit_sha))
    from llmc.core.screen.last_words import last_sentence  # slow to load, and few commands meet the end of a turn

    worker = replace(
        worker,
        turn=Turn.OVER,
        reports_events=True,
        blocked=None,
        retries=0,
        sent=still_queued(worker.sent),
        last_words=last_sentence(event.said),
    )
    if event.foreign and worker.work in (Work.WORKING, Work.REJECTED, Work.REBASING, Work.NEEDS_INPUT):
        return needs_input(worker, not_ours(event.foreign))
    if worker.work is Work.REBASING:
        return turn_ended_in_rebase(worker, event, policy)
    if worker.work in (Work.NEEDS_REVIEW, Work.ERROR):
        return Move(replace(worker, commit_sha=event.commit or worker.commit_sha))
    if event.elsewhere and worker.work is not Work.IDLE:
        return needs_input(worker, not_on_its_branch(worker, event.elsewhere))
    if event.commit is not None and is_new_work(worker, event.commit):
        return for_review(worker, event.commit)
    if worker.work is Work.IDLE:
        return Move(worker)
    return replace(needs_input(worker, _why_not_done(worker, event)), evident=was_interrupted(worker))


def _why_not_done(worker: Worker, event: ev.TurnEnded) -> str:
    what = f"{STOPPED}out a commit"
    if event.dirty:
        what = f"{STOPPED} uncommitted changes and without a commit"
    elif worker.rejected_sha is not None:
        what = f"{STOPPED}out a new commit since the rejection"
    return with_last_words(what, worker)
