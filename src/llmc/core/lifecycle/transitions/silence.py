"""An agent at work that gives no sign of life: it is asked twice, then somebody is called. Nobody is ended for that."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.delivery.texts import prompt_digests
from llmc.core.display import age
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import Deliver, Notify, Purpose
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.shared import Move, needs_input, with_steps
from llmc.core.prompts.recovery import first_nudge, second_nudge
from llmc.model import Session, Work, Worker

CALLED = 3
"""After two nudges and the call nothing more is said until there is a sign of life."""


def silence_lasted(worker: Worker, event: ev.SilenceLasted, policy: Policy) -> Move:
    if not is_silent(worker, event.at, policy):
        return Move(worker)
    for_long = age(event.at - worker.last_activity_unix)
    told = replace(worker, nudges=worker.nudges + 1, nudged_at_unix=event.at)
    if not policy.recovers or not event.may_be_asked:
        note = f"{worker.name} gives no sign of life for {for_long}; `llmc peek {worker.name}` shows its terminal"
        return Move(replace(told, nudges=CALLED), (Notify("stuck", note),), f"no sign of life for {for_long}")
    if worker.nudges < CALLED - 1:
        text = nudge_texts(policy)[worker.nudges]
        return Move(with_steps(told, Deliver(text, Purpose.NUDGE)), detail=f"no sign of life for {for_long}: asked")
    move = needs_input(told, f"no sign of life for {for_long}, although it was asked twice")
    return replace(move, notices=tuple(replace(notice, escalates=True) for notice in move.notices))


def is_silent(worker: Worker, now: float, policy: Policy) -> bool:
    """Whether the next thing is to be said about the agent's silence."""
    if worker.work not in (Work.WORKING, Work.REJECTED) or worker.session is not Session.UP or worker.pending:
        return False
    due = _due(worker, policy)
    return due is not None and now >= due


def _due(worker: Worker, policy: Policy) -> float | None:
    """After a gap (a machine that slept, no daemon) the agent still has the whole time to answer what it is asked."""
    steps = (policy.nudge_after_secs, policy.second_nudge_after_secs, policy.escalate_after_secs)
    if worker.nudges >= len(steps):
        return None
    if not worker.nudges or worker.nudged_at_unix is None:
        return worker.last_activity_unix + steps[worker.nudges]
    return worker.nudged_at_unix + steps[worker.nudges] - steps[worker.nudges - 1]


def nudge_texts(policy: Policy) -> tuple[str, str]:
    left = policy.escalate_after_secs - policy.second_nudge_after_secs
    return first_nudge(policy.nudge_after_secs), second_nudge(left)


def is_nudge(sha256: str, policy: Policy) -> bool:
    """That the agent took the question is no answer to it."""
    return any(sha256 in prompt_digests(text) for text in nudge_texts(policy))
