"""A rate limit, a login, a provider that does not answer: states of their own, waited for and then gone on from."""

from __future__ import annotations

from dataclasses import replace

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import Deliver, Notify, Purpose
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.shared import RESTART, Move, needs_input, with_steps, with_timer
from llmc.core.prompts.recovery import unblocked_prompt
from llmc.model import Blocked, Turn, Work, Worker

GO_ON = "go_on"
RATE_LIMIT, AUTH, API, NETWORK = "rate_limit", "auth", "api", "network"
KINDS = (RATE_LIMIT, AUTH, API, NETWORK)
MOST_WAITS = 12
"""For a rate limit whose end is not known: with the waits growing longer, most of a day."""
LONGEST_DOUBLING = 3
SOON_SECS = 5.0
"""Nobody's clock is exact: a little after the time that was told."""


def turn_failed(worker: Worker, event: ev.TurnFailed, policy: Policy) -> Move:
    worker = replace(worker, turn=Turn.OVER, reports_events=True)
    why = f"its turn failed ({event.kind})" + (f": {event.message}" if event.message else "")
    return turn_broken(worker, event.kind, why, event.at, event.until, policy)


def turn_broken(worker: Worker, kind: str, why: str, at: float, until: float | None, policy: Policy) -> Move:
    """The agent is there and cannot go on. It needs somebody; whoever may act waits for it to be over."""
    if kind in KINDS:
        worker = replace(worker, blocked=Blocked(kind, at, until))
    due = _due(worker, kind, at, until, policy) if worker.work in _INTERRUPTED else None
    if due is not None:
        worker = replace(with_timer(worker, GO_ON, due), retries=worker.retries + 1)
    if worker.work in (Work.WORKING, Work.REJECTED, Work.NEEDS_INPUT):
        return _called(needs_input(worker, why), worker, policy, gave_up=due is None)
    return Move(worker, (Notify("failure", f"{worker.name}: {why}"),), why)


_INTERRUPTED = (Work.WORKING, Work.REJECTED, Work.REBASING)


def _called(move: Move, worker: Worker, policy: Policy, *, gave_up: bool) -> Move:
    """After the last try everything that is known is written down."""
    if not (gave_up and policy.recovers and worker.retries):
        return move
    return replace(move, notices=tuple(replace(notice, escalates=True) for notice in move.notices))


def _due(worker: Worker, kind: str, at: float, until: float | None, policy: Policy) -> float | None:
    """When to try again; None when only a person can help, or when it was tried often enough."""
    most = {RATE_LIMIT: MOST_WAITS, API: policy.crash_limit, NETWORK: policy.crash_limit}.get(kind, 0)
    if not policy.recovers or worker.retries >= most:
        return None
    if until is not None and until > at:
        return until + SOON_SECS
    wait = policy.rate_limit_wait_secs if kind == RATE_LIMIT else policy.restart_backoff_secs
    return at + wait * float(2 ** min(worker.retries, LONGEST_DOUBLING))


def blocked_at_exit(worker: Worker, event: ev.AgentExited, kind: str, policy: Policy) -> Move:
    """It ended for want of a login or of quota: that is no crash, and counts as none."""
    words = "a rate limit" if kind == RATE_LIMIT else "a missing login"
    why = f"the agent ended for {words}: {event.last_words}"
    worker = replace(worker, blocked=Blocked(kind, event.at, event.until))
    due = _due(worker, kind, event.at, event.until, policy)
    if due is None:
        told = f"{worker.name}: {why}; `llmc restart {worker.name}` when it is over"
        return Move(worker, (Notify("blocked", told, escalates=policy.recovers and worker.retries > 0),), why)
    waiting = replace(with_timer(worker, RESTART, due), retries=worker.retries + 1)
    return Move(waiting, (Notify("blocked", f"{worker.name}: {why}; it is started again then"),), why)


def wait_is_over(worker: Worker, policy: Policy) -> Move:
    """The time of a block has come. Whoever went on meanwhile, or was told otherwise, is left alone."""
    waits = worker.work in (Work.NEEDS_INPUT, Work.REBASING) and worker.turn is not Turn.OPEN
    if worker.blocked is None or worker.pending or not waits or not policy.recovers:
        return Move(worker)
    text = unblocked_prompt(worker.blocked.kind)
    if worker.work is Work.NEEDS_INPUT:
        worker = replace(worker, work=Work.WORKING)
    return Move(with_steps(replace(worker, blocked=None), Deliver(text, Purpose.GO_ON)), detail="the wait is over")
