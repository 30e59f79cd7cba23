"""A text that the agent has not got: what was to follow it does not happen, unless it can safely be sent once more."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import (
    ClearConversation,
    Deliver,
    LastingEffect,
    Notify,
    Purpose,
    StartSession,
    StopSession,
)
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.shared import (
    Move,
    error,
    needs_input,
    return_to,
    undone,
    with_steps,
    without_work_steps,
)
from llmc.model import Turn, Work, Worker


def not_sent(worker: Worker, event: ev.TextSent, effect: LastingEffect | None, policy: Policy) -> Move:
    why = f"the text was not delivered: {event.reason}"
    if policy.recovers and not event.refused and _may_start_anew(worker, effect):
        return _sent_again(worker, effect, why)
    worker = without_work_steps(worker)
    if worker.work in (Work.REBASING, Work.ERROR):
        again = f"; `llmc rebase {worker.name}` asks again" if worker.work is Work.REBASING else ""
        return Move(worker, (Notify("undelivered", f"{worker.name}: {why}{again}"),), why, evident=True)
    if isinstance(effect, Deliver) and effect.purpose == Purpose.GO_ON:
        return needs_input(worker, why)
    before = worker.resume_work
    if before is None:
        return Move(worker, detail=why)
    if event.refused:
        # Nothing was typed: the worker is what it was, and the sender is told.
        return Move(undone(worker, before), detail=why)
    return error(return_to(worker, before) if before is Work.ERROR else replace(worker, work=before), why)


def _may_start_anew(worker: Worker, effect: LastingEffect | None) -> bool:
    """The agent takes no text: a new start of it may. An agent that may be at work is never ended for that."""
    if isinstance(effect, ClearConversation):
        return True
    if not isinstance(effect, Deliver) or effect.last_try or effect.purpose == Purpose.GO_ON:
        return False
    return worker.turn is Turn.OVER or effect.purpose == Purpose.TASK


def _sent_again(worker: Worker, effect: LastingEffect | None, why: str) -> Move:
    # A new agent has a clear conversation already.
    again = (replace(effect, last_try=True),) if isinstance(effect, Deliver) else ()
    begun = with_steps(replace(worker, pending=()), StopSession(), StartSession(), *again)
    return Move(
        replace(begun, pending=begun.pending + worker.pending), detail=f"{why}; the agent is started anew for it"
    )
