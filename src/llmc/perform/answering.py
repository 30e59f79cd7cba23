"""Answering an agent's open dialog, and seeing that it is gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from llmc.core.answers import Typing, typing_for
from llmc.core.classify import Cue, Reading, Screen, read_screen
from llmc.core.digest import text_digest
from llmc.errors import LlmcError
from llmc.model import Outcome, Proof, Receipt, Worker
from llmc.perform.conversation import asks_by_report, lock_terminal
from llmc.site import Site

LOOK_EVERY_SECS = 0.05
GONE_WITHIN_SECS = 5.0


@dataclass(frozen=True, slots=True)
class _Given:
    """What came of an answer."""

    to: str
    taken: bool
    proof: Proof
    otherwise: str
    """What is to be said when nothing tells that it was taken."""


def answer(site: Site, worker: Worker, choice: str) -> tuple[Receipt, str]:
    """The receipt, and the dialog's name."""
    began = time.monotonic()
    pane = site.tmux.panes().get(worker.session_id)
    if pane is None or pane.dead:
        raise LlmcError(f"{worker.name} is not running", "bring the workers up with `llmc up`")
    with lock_terminal(site, worker):
        given = _give(site, worker, pane.id, choice)
    elapsed = int((time.monotonic() - began) * 1000)
    size, digest = len(choice.encode()), text_digest(choice)
    if given.taken:
        return Receipt(Outcome.DELIVERED, given.proof, 1, elapsed, size, digest, ""), given.to
    return Receipt(Outcome.UNKNOWN, Proof.NONE, 1, elapsed, size, digest, given.otherwise), given.to


def _give(site: Site, worker: Worker, pane: str, choice: str) -> _Given:
    reading = _reading(site, worker, pane)
    if reading.state != "NEEDS_CONFIRMATION" and asks_by_report(site, worker):
        taken = _type_answer(site, worker, pane, choice)
        return _Given("what it reports to ask", taken, Proof.HOOK, "the agent has reported nothing since")
    dialog = _open_dialog(worker, reading)
    gone = press_answer(site, worker, pane, dialog, typing_for(dialog, choice))
    return _Given(dialog.name, gone, Proof.COMPOSER, "the dialog is still on the screen")


def _type_answer(site: Site, worker: Worker, pane: str, choice: str) -> bool:
    """Nobody has told how this agent's questions look: it gets the words, and its next report is the proof."""
    site.tmux.leave_copy_mode(pane)
    site.tmux.type_text(pane, choice)
    site.tmux.press(pane, site.agent_of(worker).submit)
    return _until(lambda: not asks_by_report(site, worker))


def press_answer(site: Site, worker: Worker, pane: str, dialog: Cue, typing: Typing) -> bool:
    """Whether the dialog is gone then. The caller holds the terminal's lock and has just seen the dialog."""
    site.tmux.leave_copy_mode(pane)
    site.tmux.press(pane, *typing.keys)
    if typing.text:
        site.tmux.type_text(pane, typing.text)
        site.tmux.press(pane, "Enter")
    return _is_gone(site, worker, pane, dialog)


def _reading(site: Site, worker: Worker, pane: str) -> Reading:
    facts, text = site.tmux.look(pane)
    return read_screen(site.agent_of(worker).pack, Screen(text, facts.title))


def _open_dialog(worker: Worker, reading: Reading) -> Cue:
    if reading.state != "NEEDS_CONFIRMATION" or reading.matched is None:
        raise LlmcError(f"{worker.name} has no dialog open", f"see `llmc peek {worker.name}`")
    return reading.matched


def _is_gone(site: Site, worker: Worker, pane: str, dialog: Cue) -> bool:
    return _until(lambda: _reading(site, worker, pane).matched is not dialog)


def _until(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + GONE_WITHIN_SECS
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(LOOK_EVERY_SECS)
    return False
