"""A turn that somebody ended on purpose. Most agents report nothing of it; their screen does."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import Notify
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.shared import (
    BY_MESSAGE,
    REBASE_HELP,
    Move,
    is_outdated,
    needs_input,
    without_timer,
)
from llmc.model import Turn, Work, Worker

SIGNAL = "interrupted"
BUDGET = "budget"
SHOWN_BY = {"report": "interrupted", "screen": "interrupted, as its screen shows", "you": "interrupted by you"}


def turn_interrupted(worker: Worker, event: ev.TurnInterrupted, policy: Policy) -> Move:
    """The person has the word: nothing is sent to the agent unasked, and what it was asked to do stays its task."""
    if was_interrupted(worker) or (event.told_by == "screen" and not _says_something_new(worker, event.at)):
        return Move(worker)
    worker = replace(worker, reports_events=worker.reports_events or event.told_by == "report")
    move = _stopped(worker, SHOWN_BY[event.told_by], BY_MESSAGE, event.commit)
    asked = worker.work in _AT_A_TASK and event.told_by == "you"
    return replace(move, notices=()) if asked else move


def budget_spent(worker: Worker, event: ev.BudgetSpent, policy: Policy) -> Move:
    """The turn was interrupted by LLMC, which tells why; what the agent reports of its end is not news."""
    move = _stopped(worker, event.why, event.how, event.commit)
    told = Notify("budget", f"{worker.name} was stopped: {event.why}; {event.how}")
    return replace(move, notices=move.notices or (told,), evident=True)


_AT_A_TASK = (Work.WORKING, Work.REJECTED, Work.NEEDS_INPUT)


def _stopped(worker: Worker, why: str, how: str, commit: str | None) -> Move:
    worker = replace(worker, turn=Turn.OVER, blocked=None, retries=0)
    if worker.work in _AT_A_TASK:
        worker = replace(worker, commit_sha=commit or worker.commit_sha)
        return replace(needs_input(worker, why, how), evident=True)
    if worker.work is Work.REBASING:
        note = f"{worker.name} was interrupted in its conflicts; `llmc rebase {worker.name}` asks it again"
        return Move(without_timer(worker, REBASE_HELP), (Notify("needs_input", note),), why, evident=True)
    return Move(worker, detail=why)


def _says_something_new(worker: Worker, at: float) -> bool:
    """Of a turn that is over by the agent's own account, its screen may still tell that somebody ended it."""
    if worker.pending or is_outdated(worker, at):
        return False
    reported_its_end = worker.work is Work.NEEDS_INPUT and worker.evidence.signal == "hook.turn_end"
    return worker.turn is not Turn.OVER or reported_its_end


def was_interrupted(worker: Worker) -> bool:
    """Nothing has happened since: what is still reported of that turn is not news."""
    return worker.turn is Turn.OVER and worker.evidence.signal in (SIGNAL, BUDGET)


def reported_interrupt(worker: Worker) -> bool:
    """Who reports its interrupts reports no other end of that turn: what ends now is the next one."""
    return worker.evidence.detail == SHOWN_BY["report"]
