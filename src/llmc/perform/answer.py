"""Answering an agent's open dialog, and seeing that it is gone."""

from __future__ import annotations

import time

from llmc.agents.base import Agent
from llmc.core.delivery.texts import text_digest
from llmc.core.dialogs.choosing import USUAL_WAYS, goal_for
from llmc.core.dialogs.dialog import Dialog
from llmc.core.dialogs.navigator import DialogOutcome
from llmc.core.display import one_line
from llmc.errors import LlmcError
from llmc.model import Outcome, Proof, Receipt, Worker
from llmc.perform.delivery import asks_by_report, lock_terminal
from llmc.perform.dialogs import DialogShown, look_at_dialog, walk_through
from llmc.site import Site
from llmc.tmux.parsing import Pane
from llmc.values import Value

LOOK_EVERY_SECS = 0.05
REPORTED_WITHIN_SECS = 5.0


class _Given(Value):
    """What came of an answer."""

    to: str
    outcome: Outcome
    proof: Proof = Proof.NONE
    reason: str = ""


ENDINGS = {
    DialogOutcome.TAKEN: (Outcome.DELIVERED, Proof.COMPOSER, ""),
    DialogOutcome.STAYS: (Outcome.UNKNOWN, Proof.NONE, "the dialog is still on the screen"),
    DialogOutcome.CHANGED: (Outcome.UNDELIVERED, Proof.NONE, "the dialog closed or changed before it was answered"),
    DialogOutcome.LOST: (
        Outcome.UNKNOWN,
        Proof.NONE,
        "the dialog closed or changed while it was answered; look before you answer again",
    ),
    DialogOutcome.STUCK: (
        Outcome.UNDELIVERED,
        Proof.NONE,
        "the mark could not be moved to that option; nothing was chosen",
    ),
}


def answer(site: Site, worker: Worker, choice: str, dialog_id: str | None = None) -> tuple[Receipt, str]:
    """The receipt, and what was answered. With a `dialog_id` no other dialog is answered."""
    began = time.monotonic()
    pane = site.pane_of(worker.session_id)
    if pane is None or pane.dead:
        raise LlmcError(f"{worker.name} is not running", "bring the workers up with `llmc up`")
    with lock_terminal(site, worker):
        given = _give(site, worker, pane, choice, dialog_id)
    elapsed = int((time.monotonic() - began) * 1000)
    size, digest = len(choice.encode()), text_digest(choice)
    return Receipt(given.outcome, given.proof, 1, elapsed, size, digest, given.reason), given.to


def _give(site: Site, worker: Worker, pane: Pane, choice: str, dialog_id: str | None) -> _Given:
    agent = site.agent_of(worker)
    shown = look_at_dialog(site.tmux, agent, pane)
    dialog = shown.reading.dialog
    if dialog is None and dialog_id is None and asks_by_report(site, worker):
        return _type_answer(site, worker, agent, shown, choice)
    if dialog is None:
        raise LlmcError(f"{worker.name} has no dialog open", f"see `llmc peek {worker.name}`")
    if dialog_id is not None and dialog.id != dialog_id:
        raise LlmcError(
            f"{worker.name} does not show the dialog {dialog_id} any more; another one is open ({dialog.id})",
            f"look at it first: `llmc peek {worker.name}`",
        )
    cue = shown.reading.matched
    goal = goal_for(dialog, choice, cue.ways if cue is not None else USUAL_WAYS)
    outcome, proof, reason = ENDINGS[walk_through(site, agent, pane, goal)]
    return _Given(told_of(dialog), outcome, proof, reason)


def told_of(dialog: Dialog) -> str:
    """What it asks, in a line: its last words say it best."""
    return one_line(dialog.question.rpartition("\n")[2] or dialog.listed, 200)


def _type_answer(site: Site, worker: Worker, agent: Agent, shown: DialogShown, choice: str) -> _Given:
    """Its report says that it asks, and nothing on its screen can be chosen.

    A program that reads lines, or that shows an empty input line, gets the words. Anywhere else an Enter might take
    an option that nobody has seen.
    """
    if shown.reading.composer != "" and not site.host.reads_lines(shown.pane.tty):
        raise LlmcError(
            f"{worker.name} reports that it asks something, but its screen shows no options that LLMC can read",
            f"answer it in the terminal itself: `llmc attach {worker.name}`",
        )
    site.tmux.leave_copy_mode(shown.pane.id)
    site.tmux.type_text(shown.pane.id, choice)
    site.tmux.press(shown.pane.id, agent.submit)
    until = time.monotonic() + REPORTED_WITHIN_SECS
    while asks_by_report(site, worker):
        if time.monotonic() >= until:
            return _Given("what it reports to ask", Outcome.UNKNOWN, reason="the agent has reported nothing since")
        time.sleep(LOOK_EVERY_SECS)
    return _Given("what it reports to ask", Outcome.DELIVERED, Proof.HOOK)
