"""A turn that somebody ended on purpose. Most agents report nothing of it; their screen does."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import Notify
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.shared import REBASE_HELP, Move, is_outdated, needs_input, without_timer
from llmc.model import Turn, Work, Worker

SIGNAL = "interrupted"
SHOWN_BY = {"report": "interrupted", "screen": "interrupted, as its screen shows", "you": "interrupted by you"}


def turn_interrupted(worker: Worker, event: ev.TurnInterrupted, policy: Policy) -> Move:
    """The person has the word: nothing is sent to the agent unasked, and what it was asked to do stays its task."""
    if was_interrupted(worker) or (event.told_by == "screen" and not _says_something_new(worker, event.at)):
        return Move(worker)
    reports = worker.reports_events or event.told_by == "report"
    why = SHOWN_BY[event.told_by]
    worker = replace(worker, turn=Turn.OVER, reports_events=reports, blocked=None, retries=0)
    if worker.work in (Work.WORKING, Work.REJECTED, Work.NEEDS_INPUT):
        worker = replace(worker, commit_sha=event.commit or worker.commit_sha)
        move = replace(needs_input(worker, why), evident=True)
        return replace(move, notices=()) if event.told_by == "you" else move
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
    return worker.turn is Turn.OVER and worker.evidence.signal == SIGNAL


def reported_interrupt(worker: Worker) -> bool:
    """Who reports its interrupts reports no other end of that turn: what ends now is the next one."""
    return worker.evidence.detail == SHOWN_BY["report"]
