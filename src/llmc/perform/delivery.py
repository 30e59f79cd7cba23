"""Getting a text to an agent: drives the machine of `core/delivery/machine.py` on the real terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from llmc.agents.base import Agent
from llmc.agents.reports import Report
from llmc.agents.transcripts import prompts_since
from llmc.core.delivery.machine import DeliveryAction, DeliveryLook, DeliveryProgress, DeliveryStage, Do, advance
from llmc.core.delivery.texts import last_line_digests, prompt_digests, text_digest
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.transitions.queued import reports_owed
from llmc.core.screen.classify import ScreenReading, read_screen
from llmc.core.screen.composer import (
    composer_holds,
    composer_keeps,
    composer_mixes,
    is_part_of,
    is_prompt_again,
    times_shown,
)
from llmc.core.screen.fusion import INTERRUPTED
from llmc.core.screen.screen import Screen
from llmc.errors import LlmcError
from llmc.host.locks import FileLock
from llmc.host.watch import Watch, open_watch, wait_for_change
from llmc.model import Outcome, Proof, Receipt, Step, Worker
from llmc.perform.unread_reports import TURN_ENDS, spooled_reports, turn_is_open
from llmc.site import Site
from llmc.store.snapshot import told_state
from llmc.store.spool import make_spool, marks
from llmc.tmux.parsing import Pane
from llmc.tmux.server import PaneGoneError, Tmux
from llmc.values import Value

FIRST_PAUSE_SECS = 0.002
LONGEST_PAUSE_SECS = 0.05
PANE_LOCK_SECS = 60.0
TRANSCRIPT_SECS = 1.0
"""An agent writes down what it was given within moments."""
EVENTS_LOOKED_AT = 200
LEFTOVER_KEPT = 16_384
CUT_SHORT = DeliveryAction(
    Do.FINISH, Outcome.UNKNOWN, Proof.NONE, "the sender was ended in the middle of the delivery; look before you resend"
)

NOT_RUNNING = DeliveryAction(Do.FINISH, Outcome.UNDELIVERED, Proof.NONE, "its session is not running", refused=True)


class TypedTerminal(Value):
    """One agent's terminal, for the time of one delivery."""

    site: Site
    worker: Worker
    agent: Agent
    tmux: Tmux
    pane: str
    text: str
    digests: frozenset[str]
    typed: bool = False
    """Typed key by key and not pasted: slash commands."""
    before: frozenset[str] = frozenset()
    """The marks of the reports that waited when the delivery began: they are of something else."""
    began: float = 0.0
    """When the delivery began, where those are not known: the sender was ended."""

    def look(self) -> DeliveryLook:
        now = time.monotonic()
        try:
            facts, screen = self.tmux.look(self.pane)
        except PaneGoneError:
            return DeliveryLook(now, gone=True, heard=self.heard(self.told()))
        reading = read_screen(self.agent.pack, self._screen(screen, facts))
        reads_lines = self.site.host.reads_lines(facts.tty)
        shape, composer = self.agent.pack.composer, self._composer(reading, facts)
        if composer and self.agent.screen_unknown and reads_lines and is_prompt_again(composer, screen):
            composer = ""
        told, left = self.told(), self.worker.leftover
        interrupted = (reading.state, reading.detail) == ("READY", INTERRUPTED)
        return DeliveryLook(
            at=now,
            gone=facts.dead,
            in_mode=facts.in_mode,
            dialog=self._dialog(reading, composer),
            composer=composer,
            holds_text=composer_holds(shape, composer or "", self.text),
            mixed=composer_mixes(shape, composer or "", self.text),
            leftover=bool(left) and composer_keeps(shape, composer or "", left),
            leftover_rest=bool(left) and is_part_of(composer or "", left),
            unread=self.site.host.has_unread_input(facts.tty),
            busy=reading.state == "BUSY",
            starting=reading.state == "BUSY" and reading.detail == "starting",
            in_turn=turn_is_open(self.worker.turn, spooled_reports(self.site, self.worker)) and not interrupted,
            heard=self.heard(told, reads_lines=reads_lines, busy=reading.state == "BUSY"),
            repeated=bool(self.digests & set(self.worker.heard_prompts[-1:])),
            in_same_turn=self._heard_in_turn(),
            told=bool(told),
            shown=times_shown(screen, self.text),
            reads_lines=reads_lines,
        )

    def told(self) -> list[str]:
        """What the agent has reported as prompts since the text was sent, in order."""
        now = self.site.worker(self.worker.name).heard_prompts
        return [*now, *(report.sha256 for report in self._reports() if report.kind == "prompt")]

    def heard(self, told: list[str], *, reads_lines: bool = False, busy: bool = False) -> bool:
        """Of texts with the same words that were sent before and never reported, the reports come first."""
        if self.typed and self.agent.clear_report is not None:
            # Qwen Code 0.24 reports the new session while it is still at it: a text would be queued behind that.
            return not busy and self._heard_clear()
        digests = self.digests | (last_line_digests(self.text) if reads_lines else frozenset())
        return sum(1 for each in told if each in digests) > self._owed

    @property
    def _owed(self) -> int:
        return reports_owed(self.worker.sent, self.digests)

    def _heard_in_turn(self) -> bool:
        """Whether its report came before that of the end of the turn."""
        owed = self._owed
        for report in self._reports():
            if report.kind in TURN_ENDS and not report.background:
                return False
            if report.kind == "prompt" and report.sha256 in self.digests:
                owed -= 1
                if owed < 0:
                    return True
        return False

    def _reports(self) -> list[Report]:
        """Since the delivery began."""
        return spooled_reports(self.site, self.worker, since=self.began, besides=self.before)

    def _screen(self, screen: str, facts: Pane) -> Screen:
        """Whether a shell is at its prompt is told by the process in the foreground and the cursor."""
        if self.agent.takes_prose:
            return Screen(screen, facts.title)
        return Screen(screen, facts.title, facts.command, facts.cursor)

    def _composer(self, reading: ScreenReading, facts: Pane) -> str | None:
        """Of an unknown screen, what looks like an input line may be an echo: then the cursor has left it."""
        if not self.agent.takes_prose and reading.state == "BUSY":
            return None  # the line above a program that runs is the one that started it
        if self.agent.screen_unknown and facts.cursor[0] == 0:
            return None
        return "" if reading.composer and reading.composer == self.worker.hint else reading.composer

    def _dialog(self, reading: ScreenReading, composer: str | None) -> str | None:
        if reading.state == "NEEDS_CONFIRMATION":
            return reading.detail or reading.cue
        return "as it reports" if composer is None and asks_by_report(self.site, self.worker) else None

    def _heard_clear(self) -> bool:
        return any((report.kind, report.text) == self.agent.clear_report for report in self._reports())

    def act(self, action: DeliveryAction, step: Step) -> None:
        tmux = self.tmux
        match action.do:
            case Do.LEAVE_COPY_MODE:
                tmux.leave_copy_mode(self.pane)
            case Do.CLEAR_INPUT:
                # The first empties a line, the second joins it to the one above, and removes the sign of a paste.
                tmux.press(self.pane, "C-u", "BSpace")
            case Do.PASTE if self.typed:
                tmux.type_text(self.pane, self.text)
            case Do.PASTE:
                tmux.paste(self.pane, self.text.encode("utf-8", "surrogatepass"), f"llmc-{step.id}")
            case Do.SUBMIT:
                tmux.press(self.pane, self.agent.submit)


def asks_by_report(site: Site, worker: Worker) -> bool:
    """Whether the last thing that is known of the agent is its own report that it waits for an answer."""
    if not site.agent_of(worker).screen_unknown:
        return False  # the screen tells better: what was answered is not always reported
    waiting = spooled_reports(site, worker)
    if waiting:
        return waiting[-1].kind in ("permission", "question")
    return told_state(site.root.attention_file(worker.name)) == "NEEDS_CONFIRMATION"


def deliver(site: Site, worker: Worker, step: Step, text: str) -> tuple[ev.StepResult, Receipt]:
    began, started = site.now(), time.monotonic()
    unfit = _unfit(site.agent_of(worker), text)
    if unfit:
        action, attempts = DeliveryAction(Do.FINISH, Outcome.UNDELIVERED, Proof.NONE, unfit, refused=True), 0
    elif step.begun:
        action, attempts = _resume(site, worker, step, text), 1
    else:
        action, attempts = _send_text(site, worker, step, _shielded(site.agent_of(worker), text))
    if action.outcome is Outcome.UNKNOWN:
        since = _begun_at(site, worker) if step.begun else began
        with suppress(LlmcError):  # what cannot be looked at proves nothing
            action = _written_down(site, worker, text, since) or action
    receipt = Receipt(
        action.outcome,
        action.proof,
        attempts,
        int((time.monotonic() - started) * 1000),
        len(text.encode("utf-8", "surrogatepass")),
        text_digest(text),
        action.reason,
    )
    told = f"{receipt.outcome.value} ({receipt.proof.value}) {receipt.reason}"
    with suppress(LlmcError):  # whoever sent it has the receipt, whether or not it can be kept
        site.ledger.note(worker.name, began, "receipt", told)
    return _result(site, step, action, text if attempts else ""), receipt


def _unfit(agent: Agent, text: str) -> str:
    """Why this agent cannot be sent the text as a prompt; empty when it can."""
    first = text.lstrip()[:1]
    if first and first in agent.own_commands and first not in agent.shielded:
        return f"it begins with {first!r}, which {agent.name} takes as a command of its own; begin with a word"
    return ""


def _shielded(agent: Agent, text: str) -> str:
    return f" {text}" if text[0] in agent.shielded else text


def clear(site: Site, worker: Worker, step: Step) -> ev.StepResult:
    agent = site.agent_of(worker)
    if not agent.clear:
        return ev.TextSent(site.now(), step.id, Outcome.DELIVERED, Proof.NONE, "nothing to clear")
    if step.begun:  # whoever died over it may have left it in the input line: that is nobody's draft
        worker = replace(worker, leftover=worker.leftover or agent.clear)
    action, attempts = _send(site, worker, step, agent.clear, lambda: _begin(site, worker, step), typed=True)
    return _result(site, step, action, agent.clear if attempts else "")


def _begin(site: Site, worker: Worker, step: Step) -> None:
    """Whoever finds it begun sends no text twice; clearing twice does no harm."""
    site.ledger.apply(worker.name, ev.StepBegun(site.now(), step.id))


def _result(site: Site, step: Step, action: DeliveryAction, typed: str) -> ev.TextSent:
    left = typed[:LEFTOVER_KEPT] if action.outcome in (Outcome.UNKNOWN, Outcome.UNDELIVERED) else ""
    return ev.TextSent(site.now(), step.id, action.outcome, action.proof, action.reason, action.refused, left)


def _resume(site: Site, worker: Worker, step: Step, text: str) -> DeliveryAction:
    """The sender died on the way. Nothing is pasted again: that could send it twice.

    What the agent itself reports tells that it has the text; a text that still stands in its input line is submitted.
    """
    pane = site.tmux.panes().get(worker.session_id)
    agent, digests, began = site.agent_of(worker), prompt_digests(text), _begun_at(site, worker)
    terminal = TypedTerminal(site, worker, agent, site.tmux, pane.id if pane else "", text, digests, began=began)
    if terminal.heard(terminal.told(), reads_lines=pane is not None and site.host.reads_lines(pane.tty)):
        return DeliveryAction(Do.FINISH, Outcome.DELIVERED, Proof.HOOK)
    if pane is None:
        return CUT_SHORT
    with lock_terminal(site, worker):
        return _submit_what_is_there(terminal, step)


def _written_down(site: Site, worker: Worker, text: str, since: float) -> DeliveryAction | None:
    """What the agent wrote into its own transcript, it has got, whether or not anybody saw that.

    Of one that has ended meanwhile nobody knows what became of it: the model may never have heard it.
    """
    transcripts = site.agent_of(worker).transcripts
    if transcripts is None or reports_owed(worker.sent, prompt_digests(text)):
        return None  # it may be of an earlier text with the same words
    where, digests = site.whereabouts_of(worker), prompt_digests(text)
    until = time.monotonic() + TRANSCRIPT_SECS
    while not (digests & prompts_since(transcripts, where, since)):
        if time.monotonic() >= until:
            return None
        time.sleep(LONGEST_PAUSE_SECS)
    pane = site.pane_of(worker.session_id)
    lives = pane is not None and not pane.dead
    return DeliveryAction(Do.FINISH, Outcome.DELIVERED, Proof.TRANSCRIPT) if lives else None


def _begun_at(site: Site, worker: Worker) -> float:
    """When the delivery began, by the log."""
    events = site.ledger.events.recent(worker.name, limit=EVENTS_LOOKED_AT)
    return next((event.at_unix for event in reversed(events) if event.kind == ev.StepBegun.__name__), site.now())


def _submit_what_is_there(terminal: TypedTerminal, step: Step) -> DeliveryAction:
    progress = DeliveryProgress(DeliveryStage.SUBMITTED, attempts=1, reports_events=terminal.agent.reports_events)
    while True:
        look = terminal.look()
        if look.dialog is not None and not look.heard:
            return CUT_SHORT  # it would take the Enter as its answer
        progress, action = advance(progress, look)
        if action.do is Do.FINISH:
            return action if action.proof is Proof.HOOK or progress.submits else CUT_SHORT
        if action.do is Do.LOOK_AGAIN:
            time.sleep(LONGEST_PAUSE_SECS)
        with suppress(PaneGoneError):  # the next look sees it
            terminal.act(action, step)


def _send_text(site: Site, worker: Worker, step: Step, text: str) -> tuple[DeliveryAction, int]:
    """A failure on the way is no refusal: from the first paste on the agent may have the text."""
    begun = False

    def begin() -> None:
        nonlocal begun
        _begin(site, worker, step)
        begun = True

    try:
        return _send(site, worker, step, text, begin, typed=False)
    except LlmcError as failure:
        if not begun:
            raise
        return DeliveryAction(Do.FINISH, Outcome.UNKNOWN, Proof.NONE, failure.what), 1


def _send(
    site: Site, worker: Worker, step: Step, text: str, about_to_paste: Callable[[], None], *, typed: bool
) -> tuple[DeliveryAction, int]:
    agent, digests = site.agent_of(worker), prompt_digests(text)
    with lock_terminal(site, worker), site.tmux.talking(worker.session_id) as tmux:
        pane = tmux.pane_of(worker.session_id)
        if pane is None:
            return NOT_RUNNING, 0
        make_spool(site.root.spool(worker.name))  # an agent whose spool is gone cannot say that it got the text
        before = marks(site.root.spool(worker.name))
        terminal = TypedTerminal(site, worker, agent, tmux, pane.id, text, digests, typed, before)
        with _signs_of_life(site, worker, pane) as signs:
            return _drive(terminal, signs, step, about_to_paste)


@contextmanager
def _signs_of_life(site: Site, worker: Worker, pane: Pane) -> Iterator[Watch]:
    """Changes when the agent draws or reports something: then there is something to look at."""
    watch = open_watch()
    try:
        watch.add(pane.tty, "screen")
        watch.add(site.root.spool(worker.name), "reports")
        yield watch
    finally:
        watch.close()


def lock_terminal(site: Site, worker: Worker) -> FileLock:
    """One sender at a time, across processes."""
    return FileLock(site.root.pane_lock(worker.name), name=f"the terminal of {worker.name}", timeout=PANE_LOCK_SECS)


def _drive(
    terminal: TypedTerminal, signs: Watch, step: Step, about_to_paste: Callable[[], None]
) -> tuple[DeliveryAction, int]:
    agent = terminal.agent
    progress = DeliveryProgress(
        reports_events=agent.clear_report is not None if terminal.typed else agent.reports_events,
        events_proven=terminal.worker.reports_events and not terminal.typed,
        ready_within=terminal.site.config.policy.input_wait_secs,
        many_lines="\n" in terminal.text.strip(),
        ends_line=terminal.text.endswith("\n"),
        screen_unknown=agent.screen_unknown,
    )
    pause = FIRST_PAUSE_SECS
    while True:
        progress, action = advance(progress, terminal.look())
        if action.do is Do.FINISH:
            return action, progress.attempts
        if action.do is Do.LOOK_AGAIN:
            # A terminal that draws all the time would otherwise be looked at without a break.
            time.sleep(FIRST_PAUSE_SECS)
            pause = min(pause * 1.5, LONGEST_PAUSE_SECS)
        else:
            pause = FIRST_PAUSE_SECS
            if action.do is Do.PASTE and progress.attempts == 1:
                about_to_paste()
            with suppress(PaneGoneError):  # the next look sees it
                terminal.act(action, step)
        wait_for_change(signs, pause)
