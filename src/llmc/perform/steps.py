"""Carrying out what was decided: one step after the other, each result kept before the next begins."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import (
    AskToResolve,
    CheckResolution,
    ClearConversation,
    Deliver,
    LastingEffect,
    MergeWork,
    RebaseWork,
    RemoveWorker,
    ResetWorktree,
    StartSession,
    StopSession,
    from_step,
)
from llmc.core.lifecycle.table import Decision
from llmc.errors import LlmcError
from llmc.host.faults import Moment, reached
from llmc.host.files import DiskError
from llmc.model import Outcome, Proof, Receipt, Step, Worker
from llmc.perform.fenced_work import take_over
from llmc.perform.notices import tell
from llmc.site import Site
from llmc.store.task_database import TasksUnusableError

CANCELLING = (ev.StopAsked, ev.ResetAsked, ev.RemovalAsked)
"""What a user asks in place of whatever was under way; everything else comes after it."""
STEP_LIMIT = 20
"""A worker never has this many steps to take: more of them would be a loop."""


@dataclass(slots=True)
class Settled:
    """What came of a worker's steps."""

    worker: Worker | None
    """None when the worker itself was removed, or its state can no longer be kept."""
    tip: str | None = None
    """The user's branch as it was when they asked, or as LLMC has left it since."""
    decisions: list[Decision] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)
    waits: bool = False
    """The next step is under way, and goes on when a person has answered a dialog."""
    left: str = ""
    """The id of a step that failed and is for whoever acts for the worker next."""
    merged: ev.WorkMerged | None = None
    """The work that has landed."""
    refusal: LlmcError | None = None
    """Why a step did not do what was asked, in the words for the person who asked."""


def decide_and_run(site: Site, name: str, event: ev.Event, tip: str | None = None) -> Settled:
    """Takes a decision and carries it out. The caller acts for the worker (holds its lock).

    `tip` is the user's branch, if that was fetched a moment ago.
    """
    if not isinstance(event, CANCELLING) and site.worker(name).pending:
        left = settle(site, name)  # by somebody who died on the way
        if isinstance(event, ev.AcceptAsked) and left.merged is not None:
            return left
    decision = site.ledger.apply(name, event)
    tell(site, decision)
    _may_end_here(event)
    try:
        settled = settle(site, name, tip)
    except (DiskError, TasksUnusableError) as unkept:
        settled = _left_in_the_record(decision, unkept)
    settled.decisions.insert(0, decision)
    return settled


def _left_in_the_record(decision: Decision, unkept: LlmcError) -> Settled:
    """What was decided is not undone by a disk that refuses the rest: whoever comes next goes on with it."""
    text = next((e for step in decision.worker.pending if isinstance(e := from_step(step), Deliver)), None)
    if text is None:
        hint = "make that right: what you asked for is in the record and goes on"
        raise type(unkept)(unkept.what, f"{hint}; `llmc doctor` tells more") from unkept
    settled = Settled(None)
    _end_with_receipt(settled, text, unkept)
    return settled


def stop_agent(site: Site, worker: Worker, *, force: bool) -> str:
    """Ends the agent even where the disk refuses to keep anything. What could not be remembered, in words."""
    try:
        with site.lock_of(worker.name):
            settled = decide_and_run(site, worker.name, ev.StopAsked(site.now(), force))
    except DiskError as unwritten:
        from llmc.perform import sessions

        pane = site.tmux.panes().get(worker.session_id)
        if pane is not None:
            sessions.end_session(site, worker, pane, force=force)
        return f"{worker.name} was stopped, but that it was on purpose could not be written down: {unwritten.what}"
    if settled.refusal is not None:
        raise settled.refusal
    return ""


def settle(site: Site, name: str, tip: str | None = None) -> Settled:
    """Carries out everything that is pending for the worker. The caller acts for the worker."""
    settled = Settled(site.worker(name), tip)
    with ExitStack() as client:
        for _ in range(STEP_LIMIT):
            worker = settled.worker
            if worker is None or not worker.pending or settled.waits or worker.pending[0].id == settled.left:
                return settled
            effect = from_step(worker.pending[0])
            if isinstance(effect, ClearConversation) and site.agent_of(worker).clear:
                # The same client of tmux serves the text that comes after it.
                site = replace(site, tmux=client.enter_context(site.tmux.talking(worker.session_id)))
            _take_step(site, settled, worker, worker.pending[0], effect)
    raise AssertionError(f"{name} has no end of steps")


def _take_step(site: Site, settled: Settled, worker: Worker, step: Step, effect: LastingEffect) -> None:
    take_over(site, worker)
    try:
        result = _perform(site, settled, worker, step, effect)
    except LlmcError as failure:
        settled.refusal = failure
        result = ev.StepFailed(site.now(), step.id, failure.what)
    if result is None:
        settled.worker = None
        return
    take_over(site, worker)
    try:
        decision = site.ledger.apply(worker.name, result)
    except LlmcError as unkept:
        if not isinstance(effect, Deliver):
            raise
        _end_with_receipt(settled, effect, unkept)
        return
    settled.decisions.append(decision)
    settled.worker = decision.worker
    settled.waits = isinstance(result, ev.StartWaits)
    if isinstance(result, ev.StepFailed) and any(each.id == step.id for each in decision.worker.pending):
        settled.left = step.id
    tell(site, decision)
    _may_end_here(result)


def _end_with_receipt(settled: Settled, effect: Deliver, unkept: LlmcError) -> None:
    """Whoever sent the text learns what became of it; the record has it as it was, and the next one goes on there."""
    from llmc.core.delivery.texts import text_digest

    if not settled.receipts:
        why = f"{unkept.what}; it is in the record all the same, and is sent when that is made right"
        size, digest = len(effect.text.encode("utf-8", "surrogatepass")), text_digest(effect.text)
        settled.receipts.append(Receipt(Outcome.UNKNOWN, Proof.NONE, 0, 0, size, digest, why))
    settled.refusal, settled.worker = None, None


_MOMENTS: dict[type[ev.Event], Moment] = {
    ev.AcceptAsked: Moment.ACCEPT_DECIDED,
    ev.RebaseAsked: Moment.REBASE_DECIDED,
    ev.ResetAsked: Moment.RESET_DECIDED,
    ev.RemovalAsked: Moment.NUKE_DECIDED,
    ev.WorkMerged: Moment.ACCEPT_RECORDED,
    ev.RebaseClean: Moment.REBASE_RECORDED,
    ev.RebaseConflicted: Moment.REBASE_RECORDED,
    ev.WorktreeReset: Moment.RESET_RECORDED,
}


def _may_end_here(event: ev.Event) -> None:
    moment = _MOMENTS.get(type(event))
    if moment is not None:
        reached(moment)


_WORDS: dict[type[LastingEffect], str] = {
    StartSession: "starts its agent",
    StopSession: "stops its agent",
    ClearConversation: "begins a new conversation",
    Deliver: "is given its text",
    RemoveWorker: "is removed",
    ResetWorktree: "gets a clean worktree",
    RebaseWork: "is rebased",
    AskToResolve: "is asked to resolve conflicts",
    CheckResolution: "has its conflicts checked",
    MergeWork: "is merged",
}
"""For whoever waits until it is done."""


# Each kind of step loads what it needs: a rebase knows nothing of terminals, and the other way round.


def _perform(site: Site, settled: Settled, worker: Worker, step: Step, effect: LastingEffect) -> ev.StepResult | None:
    site.progress(f"{worker.name} {_WORDS[type(effect)]}")
    match effect:
        case StartSession() | StopSession():
            from llmc.perform import sessions

            if isinstance(effect, StartSession):
                return sessions.start(site, worker, step)
            return sessions.stop(site, worker, step, force=effect.force)
        case ClearConversation() | Deliver():
            from llmc.perform import delivery

            if isinstance(effect, ClearConversation):
                return delivery.clear(site, worker, step)
            result, receipt = delivery.deliver(site, worker, step, effect.text)
            settled.receipts.append(receipt)
            _note_receipt(site, worker, effect, receipt)
            return result
        case MergeWork():
            return _merge(site, settled, worker, step, effect)
    return _perform_on_branch(site, settled, worker, step, effect)


def _note_receipt(site: Site, worker: Worker, effect: Deliver, receipt: Receipt) -> None:
    """With the history of its task."""
    if worker.task:
        from llmc.store.json_values import json_object
        from llmc.store.tasks import TaskEvent

        data = MappingProxyType({**json_object(receipt), "purpose": effect.purpose, "round": effect.round or None})
        what = f"round {effect.round} {receipt.outcome.value}" if effect.round else receipt.outcome.value
        detail = what + (f": {receipt.reason}" if receipt.reason else "")
        with suppress(LlmcError):
            site.ledger.tasks.note(worker.task, TaskEvent(site.now(), "receipt", worker.name, detail, data))


def _perform_on_branch(
    site: Site, settled: Settled, worker: Worker, step: Step, effect: LastingEffect
) -> ev.StepResult | None:
    match effect:
        case AskToResolve() | CheckResolution():
            from llmc.perform import conflicts

            if isinstance(effect, CheckResolution):
                return conflicts.check_resolution(site, worker, step)
            return conflicts.asked_to_resolve(site, worker, step, with_help=effect.help)
    from llmc.perform import branches

    match effect:
        case RemoveWorker():
            branches.remove(site, worker, settled.tip)
            return None
        case ResetWorktree():
            return branches.reset(site, worker, step, settled.tip)
        case RebaseWork():
            return branches.rebase(site, worker, step, effect.onto)
    raise AssertionError(f"nobody performs {effect}")


def _merge(site: Site, settled: Settled, worker: Worker, step: Step, effect: MergeWork) -> ev.StepResult:
    from llmc.perform import accept

    merged = accept.merge(site, worker, step, effect)
    if isinstance(merged, ev.WorkMerged):
        settled.merged, settled.tip = merged, merged.sha
        return merged
    settled.refusal = merged
    return ev.MergeRefused(site.now(), step.id, merged.what.partition("\n")[0].rstrip(":"))
