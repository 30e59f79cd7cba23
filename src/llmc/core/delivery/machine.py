"""How a text gets to an agent, and how we know. A machine without input and output.

`advance()` is shown what is on the terminal and says what to do next; whoever drives it looks, acts
and looks again. No step relies on time having passed: the text is seen in the composer before it is
submitted, and the receipt says `delivered` only with a proof.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from llmc.model import Outcome, Proof
from llmc.values import Value

MAX_ATTEMPTS = 3
MAX_SUBMITS = 5
MAX_CLEARS = 200
"""One for each line."""
CLEARED_WITHIN = 0.1
READY_WITHIN = 15.0
READ_WITHIN = 60.0
SEEN_WITHIN = 8.0
SUBMITTED_WITHIN = 1.0
STEADY_FOR = 0.1
PROVEN_WITHIN = 6.0
REPORTED_WITHIN = 20.0
"""For an agent whose reports were seen before: one that is missing means something, so a slow machine gets its time."""
QUEUED_AFTER = 1.5


class DeliveryStage(StrEnum):
    CHECKING = "checking"
    PASTED = "pasted"
    UNSEEN = "typed where nothing shows it before it is submitted"
    SUBMITTED = "submitted"


MAY_BE_TAKEN = (DeliveryStage.UNSEEN, DeliveryStage.SUBMITTED)
"""Whoever reads lines has taken some of them before the Enter."""


class Do(StrEnum):
    LOOK_AGAIN = "look again"
    LEAVE_COPY_MODE = "leave copy mode"
    CLEAR_INPUT = "clear the input line"
    PASTE = "paste"
    SUBMIT = "submit"
    FINISH = "finish"


class DeliveryLook(Value):
    """What is to be seen at one moment."""

    at: float
    gone: bool = False
    """The agent's process has ended."""
    in_mode: bool = False
    dialog: str | None = None
    composer: str | None = None
    holds_text: bool = False
    """The composer shows the text that is being delivered, and nothing else."""
    mixed: bool = False
    """The composer shows that text among other words."""
    leftover: bool = False
    """The composer shows what LLMC itself has typed before and could not submit, and nothing else."""
    leftover_rest: bool = False
    """What is in the composer is a part of that."""
    unread: bool = False
    """What was typed waits in the terminal: the agent has yet to read it."""
    busy: bool = False
    starting: bool = False
    """It draws its input line, but is not up yet: Copilot CLI 1.0 takes no Enter while it loads."""
    in_turn: bool = False
    """By its own reports it is in the middle of a turn: many look idle while a tool runs."""
    heard: bool = False
    """The agent itself reported this very prompt, after the delivery began."""
    repeated: bool = False
    """The last prompt that it reported before had the same words: a report may be a second one of that."""
    in_same_turn: bool = False
    """It did so before it reported the end of the turn that it was in: it has put the text aside."""
    told: bool = False
    """It reported some prompt after the delivery began, this one, a part of it, or another."""
    shown: int = 0
    """How often the text's beginning and its end are on the screen, wherever that is."""
    reads_lines: bool = False
    """The terminal collects lines, and hands each to the program as soon as it ends."""


class DeliveryProgress(Value):
    stage: DeliveryStage = DeliveryStage.CHECKING
    since: float | None = None
    """When the stage began, or the last key was pressed in it."""
    unread_at: float = 0.0
    """When the agent last had not read yet what was typed: the moment of typing it, or later."""
    was_mixed: bool = False
    began: float | None = None
    attempts: int = 0
    submits: int = 0
    was_busy: bool = False
    was_in_turn: bool = False
    emptied_at: float | None = None
    reports_events: bool = False
    """A report of the prompt is to be expected."""
    events_proven: bool = False
    """This agent's reports were seen before: if none comes now, that means something."""
    many_lines: bool = False
    ends_line: bool = False
    """Its last line is complete: where lines are collected, an Enter more would be an empty one."""
    screen_unknown: bool = False
    """Nobody has told how its screen looks: a text is sent where no input line is found, and its report tells."""
    cleared: int = 0
    """How often a key was pressed that takes a leftover of LLMC's own away."""
    shown_before: int = 0
    ready_within: float = READY_WITHIN
    """How long the input line may be taken or out of sight before the text is refused."""


class DeliveryAction(Value):
    do: Do
    outcome: Outcome = Outcome.UNKNOWN
    proof: Proof = Proof.NONE
    reason: str = ""
    refused: bool = False


Next = tuple[DeliveryProgress, DeliveryAction]
DRAFT = "somebody's unsent draft is in its input line"
LOOK_AGAIN = DeliveryAction(Do.LOOK_AGAIN)


def advance(progress: DeliveryProgress, look: DeliveryLook) -> Next:
    if progress.began is None:
        progress = replace(progress, began=look.at, since=look.at, unread_at=look.at)
    if look.gone:
        return _agent_gone(progress, look)
    if look.heard and progress.attempts and not (look.repeated and look.holds_text):
        queued = progress.was_in_turn and look.in_same_turn
        return progress, DeliveryAction(Do.FINISH, Outcome.QUEUED if queued else Outcome.DELIVERED, Proof.HOOK)
    if look.in_mode:
        return _in_copy_mode(progress, look)
    return _STAGES[progress.stage](progress, look)


def _agent_gone(progress: DeliveryProgress, look: DeliveryLook) -> Next:
    if look.heard and progress.attempts:
        # It has not necessarily come to asking its model.
        return progress, _unknown("the agent took it and ended at once")
    if progress.stage in MAY_BE_TAKEN:
        return progress, _unknown("the agent ended before it could confirm")
    return _refuse(progress, "the agent's process has ended")


def _in_copy_mode(progress: DeliveryProgress, look: DeliveryLook) -> Next:
    if not _waited(progress, look, READY_WITHIN):
        return progress, DeliveryAction(Do.LEAVE_COPY_MODE)
    why = "its terminal does not leave copy mode"
    return (progress, _unknown(why)) if progress.stage in MAY_BE_TAKEN else _refuse(progress, why)


def _unknown(reason: str) -> DeliveryAction:
    return DeliveryAction(Do.FINISH, Outcome.UNKNOWN, Proof.NONE, reason)


def _refuse(progress: DeliveryProgress, reason: str) -> Next:
    """It counts as refused only where nothing was typed."""
    return progress, DeliveryAction(Do.FINISH, Outcome.UNDELIVERED, Proof.NONE, reason, refused=progress.attempts == 0)


def _waited(progress: DeliveryProgress, look: DeliveryLook, limit: float) -> bool:
    return progress.since is not None and look.at - progress.since >= limit


def _checking(progress: DeliveryProgress, look: DeliveryLook) -> Next:
    if look.dialog is not None:
        return _refuse(progress, f"a dialog is open ({look.dialog}); answer it first")
    if look.unread:
        if _waited(progress, look, READ_WITHIN):
            return _refuse(progress, "it does not read its terminal")
        return replace(progress, unread_at=look.at), LOOK_AGAIN
    if look.composer and (look.leftover or (progress.cleared and look.leftover_rest)):
        return _clear_leftover(progress, look)
    if look.starting or (look.composer != "" and not (look.composer is None and progress.screen_unknown)):
        if _waited(progress, look, progress.ready_within) and look.at - progress.unread_at >= progress.ready_within:
            return _refuse(progress, _not_ready(look))
        return progress, LOOK_AGAIN
    unseen = look.composer is None or (look.reads_lines and progress.many_lines)
    pasted = replace(
        progress,
        stage=DeliveryStage.UNSEEN if unseen else DeliveryStage.PASTED,
        since=look.at,
        unread_at=look.at,
        attempts=progress.attempts + 1,
        was_busy=look.busy,
        was_in_turn=look.in_turn,
        shown_before=look.shown,
        submits=0,
    )
    return pasted, DeliveryAction(Do.PASTE)


def _not_ready(look: DeliveryLook) -> str:
    if look.starting:
        return "it is still starting"
    return "its input line is not on the screen" if look.composer is None else DRAFT


def _clear_leftover(progress: DeliveryProgress, look: DeliveryLook) -> Next:
    """It would be submitted together with what comes next, and would block that for ever as somebody's draft."""
    if progress.cleared >= MAX_CLEARS:
        return _refuse(progress, "an unsent text of LLMC's own is in its input line and cannot be cleared")
    if progress.cleared and not _waited(progress, look, CLEARED_WITHIN):
        return progress, LOOK_AGAIN
    return replace(progress, cleared=progress.cleared + 1, since=look.at), DeliveryAction(Do.CLEAR_INPUT)


def _pasted(progress: DeliveryProgress, look: DeliveryLook) -> Next:
    if look.dialog is not None:
        return _refuse(progress, f"a dialog opened meanwhile ({look.dialog})")
    if look.unread:
        return _unread(progress, look)
    progress = replace(progress, was_mixed=progress.was_mixed or look.mixed)
    if look.holds_text:
        return _submit(replace(progress, stage=DeliveryStage.SUBMITTED), look)
    if look.at - progress.unread_at < SEEN_WITHIN:
        return progress, LOOK_AGAIN
    if progress.was_mixed:
        why = "somebody typed at the same moment: the text stood beside their words and was left to them"
        return progress, _unknown(why)
    if look.told or look.shown > progress.shown_before:
        return progress, _unknown("it has taken the text, or a part of it, past its input line; look before you resend")
    if progress.attempts >= MAX_ATTEMPTS:
        return _refuse(progress, f"the text did not appear in its input line, {MAX_ATTEMPTS} times")
    # Words that are not ours are somebody's draft: that is waited for, and never cleared.
    return replace(progress, stage=DeliveryStage.CHECKING, since=look.at), LOOK_AGAIN


def _unseen(progress: DeliveryProgress, look: DeliveryLook) -> Next:
    """A program that reads line by line has begun before the last line is there, and is never sent anything twice."""
    if progress.submits == 0:
        if look.dialog is not None:
            return _refuse(progress, f"a dialog opened meanwhile ({look.dialog})")
        if look.reads_lines and progress.ends_line:
            return replace(progress, submits=1, since=look.at, unread_at=look.at), LOOK_AGAIN
        return _unread(progress, look) if look.unread and not look.reads_lines else _submit(progress, look)
    if look.told:
        return progress, _begun(progress, look)
    if look.unread:
        return _unread(progress, look)
    echoed = look.shown > progress.shown_before and not progress.events_proven
    patience = _patience(progress) if progress.reports_events else STEADY_FOR if echoed else SEEN_WITHIN
    return progress, LOOK_AGAIN if look.at - progress.unread_at < patience else _taken_unseen(progress, echoed)


def _begun(progress: DeliveryProgress, look: DeliveryLook) -> DeliveryAction:
    """It works on the first lines; the others wait in its terminal."""
    if not _waited(progress, look, REPORTED_WITHIN):
        return LOOK_AGAIN
    return DeliveryAction(Do.FINISH, Outcome.QUEUED, Proof.HOOK, "it has begun, and takes the text line by line")


def _taken_unseen(progress: DeliveryProgress, echoed: bool) -> DeliveryAction:
    if not echoed:
        return _unknown("neither a report nor its screen tells that it took the text; look before you resend")
    queued = progress.was_busy or progress.was_in_turn
    return DeliveryAction(Do.FINISH, Outcome.QUEUED if queued else Outcome.DELIVERED, Proof.COMPOSER)


def _unread(progress: DeliveryProgress, look: DeliveryLook) -> Next:
    """Nothing more is typed behind what waits: it would all arrive later."""
    if not _waited(progress, look, READ_WITHIN):
        return replace(progress, unread_at=look.at, emptied_at=None), LOOK_AGAIN
    why = "the agent does not read its terminal, where the text waits for it; look before you resend"
    return progress, _unknown(why)


def _submit(progress: DeliveryProgress, look: DeliveryLook) -> Next:
    pressed = replace(
        progress, since=look.at, unread_at=look.at, submits=progress.submits + 1, emptied_at=None, was_mixed=False
    )
    return pressed, DeliveryAction(Do.SUBMIT)


def _submitted(progress: DeliveryProgress, look: DeliveryLook) -> Next:
    if look.unread:
        return _unread(progress, look)
    if look.holds_text and look.dialog is None:
        return _still_there(replace(progress, emptied_at=None), look)
    if progress.emptied_at is None:
        return replace(progress, emptied_at=look.at), LOOK_AGAIN
    if look.at - progress.emptied_at < STEADY_FOR:
        return progress, LOOK_AGAIN  # one look may catch the screen in the middle of being drawn
    if look.composer is None or look.dialog is not None:
        return progress, _composer_gone(progress, look)
    return progress, _left_composer(progress, look.at - progress.emptied_at)


def _left_composer(progress: DeliveryProgress, ago: float) -> DeliveryAction:
    # What looks busy may be a leftover on the screen: an agent that takes it at once says so at once.
    if progress.reports_events and ago < (QUEUED_AFTER if progress.was_busy else _patience(progress)):
        return LOOK_AGAIN
    if progress.was_busy or progress.was_in_turn:
        return DeliveryAction(Do.FINISH, Outcome.QUEUED, Proof.COMPOSER)
    if progress.events_proven:
        return _unknown("it left the input line, but the agent did not report it as a prompt")
    return DeliveryAction(Do.FINISH, Outcome.DELIVERED, Proof.COMPOSER)


def _patience(progress: DeliveryProgress) -> float:
    return REPORTED_WITHIN if progress.events_proven and not progress.was_in_turn else PROVEN_WITHIN


def _composer_gone(progress: DeliveryProgress, look: DeliveryLook) -> DeliveryAction:
    """The text may still be in it, unless the agent went to work just now."""
    if not _waited(progress, look, _patience(progress)):
        return LOOK_AGAIN
    if look.busy and not progress.was_busy and not progress.events_proven:
        return DeliveryAction(Do.FINISH, Outcome.DELIVERED, Proof.COMPOSER)
    return _unknown("its input line is gone from the screen")


def _still_there(progress: DeliveryProgress, look: DeliveryLook) -> Next:
    # Twice as long each time: one that has just started may show a text long before it takes an Enter.
    if look.at - progress.unread_at < SUBMITTED_WITHIN * 2 ** max(progress.submits - 1, 0):
        return progress, LOOK_AGAIN
    if progress.submits >= MAX_SUBMITS:
        # It may take one of them yet: nobody can promise that it will not.
        why = "the text is in its input line but it does not take the Enter; look before you resend"
        return progress, _unknown(why)
    return _submit(progress, look)


_STAGES = {
    DeliveryStage.CHECKING: _checking,
    DeliveryStage.PASTED: _pasted,
    DeliveryStage.UNSEEN: _unseen,
    DeliveryStage.SUBMITTED: _submitted,
}
