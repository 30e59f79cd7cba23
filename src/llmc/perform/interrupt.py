"""Ending an agent's running turn: drives the machine of `core/delivery/interrupt.py` on the real terminal."""

from __future__ import annotations

import time

from llmc.agents.base import Agent
from llmc.agents.reports import Report
from llmc.core.delivery.interrupt import (
    InterruptAction,
    InterruptLook,
    InterruptOutcome,
    InterruptProgress,
    Witness,
    advance,
)
from llmc.core.delivery.texts import screen_digest
from llmc.core.screen.classify import read_screen
from llmc.core.screen.screen import screen_of
from llmc.model import Session, Turn, Worker
from llmc.perform.delivery import lock_terminal
from llmc.perform.unread_reports import TURN_ENDS, spooled_reports, turn_is_open
from llmc.site import Site
from llmc.store.spool import marks
from llmc.tmux.server import PaneGoneError
from llmc.values import Value

LOOK_EVERY_SECS = 0.1


class Interruption(Value):
    """What came of it, as `llmc interrupt --json` tells it."""

    worker: str
    outcome: InterruptOutcome
    proof: Witness
    elapsed_ms: int
    reason: str = ""


def interrupt(site: Site, worker: Worker, within: float) -> Interruption:
    """The caller acts for the worker, and everything that it has reported before is known."""
    began = time.monotonic()
    if worker.session is not Session.UP:
        reason = "it has not started yet" if worker.session is Session.STARTING else "its agent does not run"
        return Interruption(worker.name, InterruptOutcome.IDLE, Witness.NONE, 0, reason)
    with lock_terminal(site, worker):
        action = _drive(site, worker, within)
    elapsed = int((time.monotonic() - began) * 1000)
    outcome = action.ended or InterruptOutcome.UNKNOWN
    site.ledger.note(worker.name, site.now(), "interrupt", f"{outcome} ({action.proof}) {action.reason}".strip())
    return Interruption(worker.name, outcome, action.proof, elapsed, action.reason)


def _drive(site: Site, worker: Worker, within: float) -> InterruptAction:
    agent, pane = site.agent_of(worker), site.tmux.pane_of(worker.session_id)
    if pane is None or pane.dead:
        return InterruptAction(ended=InterruptOutcome.IDLE, reason="its agent does not run")
    keys = agent.interrupt_keys
    progress = InterruptProgress(len(keys), within, keeps_draft=set(keys) == {"Escape"})
    before: frozenset[str] | None = None
    while True:
        try:
            progress, action = advance(progress, _look(site, worker, agent, pane.id, before))
            if action.ended is not None:
                return action
            if action.key is not None:
                before = marks(site.root.spool(worker.name)) if before is None else before
                site.tmux.leave_copy_mode(pane.id)
                site.tmux.press(pane.id, keys[action.key])
        except PaneGoneError:
            continue  # the next look sees it
        time.sleep(LOOK_EVERY_SECS)


def _look(site: Site, worker: Worker, agent: Agent, pane: str, before: frozenset[str] | None) -> InterruptLook:
    """`before` are the marks of the reports that waited when the first key was pressed; None before that."""
    now = time.monotonic()
    try:
        facts, text = site.tmux.look(pane)
    except PaneGoneError:
        return InterruptLook(now, gone=True)
    screen = screen_of(text, title=facts.title)
    reading = read_screen(agent.pack, screen)
    reports = spooled_reports(site, worker)
    told = [] if before is None else spooled_reports(site, worker, besides=before)
    return InterruptLook(
        now,
        facts.dead,
        reading.state,
        reading.detail,
        screen_digest(screen.text, facts.title, ""),
        turn_is_open(worker.turn, reports) or (worker.turn is Turn.UNKNOWN and reading.state != "READY"),
        bool(told) and _is_over(told),
        bool(reading.composer),
    )


def _is_over(reports: list[Report]) -> bool:
    kinds = [report.kind for report in reports if report.kind in ("prompt", *TURN_ENDS) and not report.background]
    return bool(kinds) and kinds[-1] in TURN_ENDS
