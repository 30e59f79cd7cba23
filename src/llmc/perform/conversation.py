"""Getting a text to an agent: drives the machine of `core/delivery.py` on the real terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from llmc.agents.base import Agent
from llmc.agents.reports import prompt_digest
from llmc.core import events as ev
from llmc.core.classify import composer_holds, read_screen
from llmc.core.delivery import Action, Do, Look, Progress, advance
from llmc.model import Outcome, Proof, Receipt, Step, Worker
from llmc.site import Site
from llmc.store.lock import FileLock
from llmc.store.spool import peek_prompts
from llmc.tmux.server import PaneGoneError

LOOK_EVERY_SECS = 0.02
PANE_LOCK_SECS = 60.0


@dataclass(frozen=True, slots=True)
class Terminal:
    """One agent's terminal, for the time of one delivery."""

    site: Site
    worker: Worker
    agent: Agent
    pane: str
    text: str
    digest: str
    began: float
    typed: bool
    """Typed key by key and not pasted: slash commands."""

    def look(self) -> Look:
        now = time.monotonic()
        try:
            facts, screen = self.site.tmux.look(self.pane)
        except PaneGoneError:
            return Look(now, gone=True, heard=self._heard())
        reading = read_screen(self.agent.pack, screen)
        dialog = reading.detail or reading.cue
        return Look(
            at=now,
            gone=facts.dead,
            in_mode=facts.in_mode,
            dialog=dialog if reading.state == "NEEDS_CONFIRMATION" else None,
            composer=reading.composer,
            holds_text=composer_holds(self.agent.pack.composer, reading.composer or "", self.text),
            busy=reading.state == "BUSY",
            heard=self._heard(),
        )

    def _heard(self) -> bool:
        if self.typed:
            return False
        fresh = peek_prompts(self.site.root.spool(self.worker.name))
        if any(digest == self.digest and at >= self.began - 0.5 for digest, at in fresh):
            return True
        heard_before = self.worker.heard_prompts.count(self.digest)
        return self.site.worker(self.worker.name).heard_prompts.count(self.digest) > heard_before

    def act(self, action: Action, step: Step) -> None:
        tmux = self.site.tmux
        match action.do:
            case Do.LEAVE_COPY_MODE:
                tmux.leave_copy_mode(self.pane)
            case Do.PASTE if self.typed:
                tmux.type_text(self.pane, self.text)
            case Do.PASTE:
                tmux.paste(self.pane, self.text.encode("utf-8", "surrogatepass"), f"llmc-{step.id}")
            case Do.CLEAR:
                tmux.press(self.pane, "C-u")
            case Do.SUBMIT:
                tmux.press(self.pane, self.agent.submit)
            case _:
                time.sleep(LOOK_EVERY_SECS)


def deliver(site: Site, worker: Worker, step: Step, text: str) -> tuple[ev.StepResult, Receipt]:
    began, started = site.now(), time.monotonic()
    digest = prompt_digest(text)
    if step.begun:
        action, attempts = _after_crash(site, worker, digest), 1
    else:
        action, attempts = _send(site, worker, step, text, typed=False)
    receipt = Receipt(
        action.outcome,
        action.proof,
        attempts,
        int((time.monotonic() - started) * 1000),
        len(text.encode("utf-8", "surrogatepass")),
        digest,
        action.reason,
    )
    site.ledger.note(worker.name, began, "receipt", f"{receipt.outcome.value} ({receipt.proof.value}) {receipt.reason}")
    return _result(site, step, action), receipt


def clear(site: Site, worker: Worker, step: Step) -> ev.StepResult:
    agent = site.agent_of(worker)
    if not agent.clear:
        return ev.TextSent(site.now(), step.id, Outcome.DELIVERED, Proof.NONE, "nothing to clear")
    action, _ = _send(site, worker, step, agent.clear, typed=True)
    return _result(site, step, action)


def _result(site: Site, step: Step, action: Action) -> ev.TextSent:
    return ev.TextSent(site.now(), step.id, action.outcome, action.proof, action.reason, action.refused)


def _after_crash(site: Site, worker: Worker, digest: str) -> Action:
    """The sender died on the way. Sending again could send twice: only a report of the agent tells."""
    spooled = any(heard == digest for heard, _ in peek_prompts(site.root.spool(worker.name)))
    if spooled or digest in worker.heard_prompts:
        return Action(Do.FINISH, Outcome.DELIVERED, Proof.HOOK)
    return Action(Do.FINISH, Outcome.UNKNOWN, Proof.NONE, "the sender was ended in the middle of the delivery")


def _send(site: Site, worker: Worker, step: Step, text: str, *, typed: bool) -> tuple[Action, int]:
    pane = site.tmux.panes().get(worker.session_id)
    if pane is None:
        return Action(Do.FINISH, Outcome.UNDELIVERED, Proof.NONE, "its session is not running", refused=True), 0
    terminal = Terminal(site, worker, site.agent_of(worker), pane.id, text, prompt_digest(text), site.now(), typed)
    with FileLock(site.root.pane_lock(worker.name), name=f"the terminal of {worker.name}", timeout=PANE_LOCK_SECS):
        return _drive(terminal, step, lambda: _mark_begun(site, worker, step, typed))


def _mark_begun(site: Site, worker: Worker, step: Step, typed: bool) -> None:
    # Clearing twice does no harm, so only texts are marked.
    if not typed:
        site.ledger.apply(worker.name, ev.StepBegun(site.now(), step.id))


def _drive(terminal: Terminal, step: Step, about_to_paste: Callable[[], None]) -> tuple[Action, int]:
    progress = Progress(reports_events=terminal.worker.reports_events and not terminal.typed)
    while True:
        progress, action = advance(progress, terminal.look())
        if action.do is Do.FINISH:
            return action, progress.attempts
        if action.do is Do.PASTE and progress.attempts == 1:
            about_to_paste()
        try:
            terminal.act(action, step)
        except PaneGoneError:
            continue  # the next look sees it
