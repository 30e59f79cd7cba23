"""How a text gets to an agent, and how we know. A machine without input and output.

`advance()` is shown what is on the terminal and says what to do next; whoever drives it looks, acts
and looks again. No step relies on time having passed: the text is seen in the composer before it is
submitted, and the receipt says `delivered` only with a proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from llmc.errors import LlmcError
from llmc.model import Outcome, Proof

MAX_BYTES = 4 * 1024 * 1024
MAX_ATTEMPTS = 3
MAX_SUBMITS = 4
READY_WITHIN = 15.0
SEEN_WITHIN = 8.0
SUBMITTED_WITHIN = 1.0
PROVEN_WITHIN = 6.0
QUEUED_AFTER = 1.5


class Stage(StrEnum):
    CHECKING = "checking"
    PASTED = "pasted"
    SUBMITTED = "submitted"


class Do(StrEnum):
    LOOK_AGAIN = "look again"
    LEAVE_COPY_MODE = "leave copy mode"
    PASTE = "paste"
    SUBMIT = "submit"
    FINISH = "finish"


@dataclass(frozen=True, slots=True)
class Look:
    """What is to be seen at one moment."""

    at: float
    gone: bool = False
    """The agent's process has ended."""
    in_mode: bool = False
    dialog: str | None = None
    composer: str | None = None
    holds_text: bool = False
    """The composer shows the text that is being delivered."""
    busy: bool = False
    heard: bool = False
    """The agent itself reported this very prompt, after the delivery began."""


@dataclass(frozen=True, slots=True)
class Progress:
    stage: Stage = Stage.CHECKING
    since: float | None = None
    began: float | None = None
    attempts: int = 0
    submits: int = 0
    was_busy: bool = False
    emptied_at: float | None = None
    reports_events: bool = False
    """A report of the prompt is to be expected."""
    events_proven: bool = False
    """This agent's reports were seen before: if none comes now, that means something."""


@dataclass(frozen=True, slots=True)
class Action:
    do: Do
    outcome: Outcome = Outcome.UNKNOWN
    proof: Proof = Proof.NONE
    reason: str = ""
    refused: bool = False


Next = tuple[Progress, Action]
LOOK_AGAIN = Action(Do.LOOK_AGAIN)


class UnfitTextError(LlmcError):
    """The text cannot be delivered as it is; nothing was sent."""

    exit_code = 2


def check_text(text: str) -> None:
    """Refuses what a terminal would act upon instead of passing it on."""
    if not text.strip():
        raise UnfitTextError("the text is empty", "give the agent something to read")
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise UnfitTextError(
            f"the text has {size:,} bytes, more than {MAX_BYTES:,}",
            "put it into a file in the worktree and tell the agent to read that file",
        )
    for position, character in enumerate(text):
        if (ord(character) < 32 and character not in "\n\t") or 0x7F <= ord(character) < 0xA0:
            line = text.count("\n", 0, position) + 1
            raise UnfitTextError(
                f"the text has the control character U+{ord(character):04X} in line {line}",
                "remove it: a terminal would act on it instead of passing it on",
            )
        if 0xD800 <= ord(character) < 0xE000:
            raise UnfitTextError("the text is not valid Unicode", "save it as UTF-8 and try again")


def advance(progress: Progress, look: Look) -> Next:
    if progress.began is None:
        progress = replace(progress, began=look.at, since=look.at)
    if look.heard:
        return progress, Action(Do.FINISH, Outcome.DELIVERED, Proof.HOOK)
    if look.gone:
        return progress, _agent_gone(progress)
    if look.in_mode:
        return progress, _in_copy_mode(progress, look)
    return _STAGES[progress.stage](progress, look)


def _agent_gone(progress: Progress) -> Action:
    if progress.stage is Stage.SUBMITTED:
        return Action(Do.FINISH, Outcome.UNKNOWN, Proof.NONE, "the agent ended before it could confirm")
    never_typed = progress.attempts == 0
    return Action(Do.FINISH, Outcome.UNDELIVERED, Proof.NONE, "the agent's process has ended", never_typed)


def _in_copy_mode(progress: Progress, look: Look) -> Action:
    if not _waited(progress, look, READY_WITHIN):
        return Action(Do.LEAVE_COPY_MODE)
    outcome = Outcome.UNKNOWN if progress.stage is Stage.SUBMITTED else Outcome.UNDELIVERED
    return Action(
        Do.FINISH, outcome, Proof.NONE, "its terminal does not leave copy mode", refused=progress.attempts == 0
    )


def _refuse(progress: Progress, reason: str) -> Next:
    return progress, Action(Do.FINISH, Outcome.UNDELIVERED, Proof.NONE, reason, refused=progress.attempts == 0)


def _waited(progress: Progress, look: Look, limit: float) -> bool:
    return progress.since is not None and look.at - progress.since >= limit


def _checking(progress: Progress, look: Look) -> Next:
    if look.dialog is not None:
        return _refuse(progress, f"a dialog is open ({look.dialog}); answer it first")
    if look.composer is None:
        if _waited(progress, look, READY_WITHIN):
            return _refuse(progress, "its input line is not on the screen")
        return progress, LOOK_AGAIN
    if look.composer:
        if _waited(progress, look, READY_WITHIN):
            return _refuse(progress, "somebody's unsent draft is in its input line")
        return progress, LOOK_AGAIN
    pasted = replace(
        progress, stage=Stage.PASTED, since=look.at, attempts=progress.attempts + 1, was_busy=look.busy, submits=0
    )
    return pasted, Action(Do.PASTE)


def _pasted(progress: Progress, look: Look) -> Next:
    if look.dialog is not None:
        return _refuse(progress, f"a dialog opened meanwhile ({look.dialog})")
    if look.holds_text:
        submitted = replace(progress, stage=Stage.SUBMITTED, since=look.at, submits=1, emptied_at=None)
        return submitted, Action(Do.SUBMIT)
    if not _waited(progress, look, SEEN_WITHIN):
        return progress, LOOK_AGAIN
    if progress.attempts >= MAX_ATTEMPTS:
        return progress, Action(
            Do.FINISH,
            Outcome.UNDELIVERED,
            Proof.NONE,
            f"the text did not appear in its input line, {MAX_ATTEMPTS} times",
        )
    # Words that are not ours are somebody's draft: that is waited for, and never cleared.
    return replace(progress, stage=Stage.CHECKING, since=look.at), LOOK_AGAIN


def _submitted(progress: Progress, look: Look) -> Next:
    if look.holds_text:
        return _still_there(replace(progress, emptied_at=None), look)
    if progress.emptied_at is None:
        # Seen twice before it counts: one look may catch the screen in the middle of being drawn.
        return replace(progress, emptied_at=look.at), LOOK_AGAIN
    if look.composer is None:
        return progress, _composer_gone(progress, look)
    if progress.was_busy:
        # What looks busy may be a leftover on the screen: an agent that takes it at once says so at once.
        if progress.reports_events and look.at - progress.emptied_at < QUEUED_AFTER:
            return progress, LOOK_AGAIN
        return progress, Action(Do.FINISH, Outcome.QUEUED, Proof.COMPOSER)
    if progress.reports_events and look.at - progress.emptied_at < PROVEN_WITHIN:
        return progress, LOOK_AGAIN
    if progress.events_proven:
        why = "it left the input line, but the agent did not report it as a prompt"
        return progress, Action(Do.FINISH, Outcome.UNKNOWN, Proof.NONE, why)
    return progress, Action(Do.FINISH, Outcome.DELIVERED, Proof.COMPOSER)


def _composer_gone(progress: Progress, look: Look) -> Action:
    """The text may still be in it, unless the agent went to work just now."""
    if not _waited(progress, look, PROVEN_WITHIN):
        return LOOK_AGAIN
    if look.busy and not progress.was_busy and not progress.events_proven:
        return Action(Do.FINISH, Outcome.DELIVERED, Proof.COMPOSER)
    return Action(Do.FINISH, Outcome.UNKNOWN, Proof.NONE, "its input line is gone from the screen")


def _still_there(progress: Progress, look: Look) -> Next:
    if not _waited(progress, look, SUBMITTED_WITHIN):
        return progress, LOOK_AGAIN
    if progress.submits >= MAX_SUBMITS:
        return progress, Action(
            Do.FINISH, Outcome.UNDELIVERED, Proof.NONE, "the text is in its input line but it does not take the Enter"
        )
    return replace(progress, since=look.at, submits=progress.submits + 1), Action(Do.SUBMIT)


_STAGES = {
    Stage.CHECKING: _checking,
    Stage.PASTED: _pasted,
    Stage.SUBMITTED: _submitted,
}
