"""How a running turn is ended by keys, and how we know. A machine without input and output, as delivery is.

A key is pressed only for a turn that is seen to run: on an empty input line a single Ctrl-C ends some agents, and
Escape opens menus. The turn is over when the agent says so, or when its screen has come to rest after the key.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from llmc.core.screen.fusion import INTERRUPTED
from llmc.values import Value

AT_REST_FOR = 1.5
"""Between two steps of a turn a screen may look ready for a moment."""
SAYS_SO_FOR = 0.3
NEXT_KEY_AFTER = 1.0
"""Between two keys of a row: what comes at once after an Escape is another key, for a terminal."""
LOOKS_BUSY_WITHIN = 2.0
"""A turn that is open by the agent's account shows that by then, or is quiet for longer."""
AGAIN_AFTER = 2.0
"""Twice as long each time: an agent under load may take its time, and a key too many does something else."""
MAX_ROUNDS = 3


class InterruptOutcome(StrEnum):
    INTERRUPTED = "interrupted"
    IDLE = "idle already"
    UNKNOWN = "unknown"


class Witness(StrEnum):
    """What shows that the turn is over, best first."""

    HOOK = "hook"
    SCREEN = "screen"
    NONE = "none"


class InterruptLook(Value):
    at: float
    gone: bool = False
    state: str = "UNKNOWN"
    detail: str | None = None
    digest: str = ""
    turn_open: bool = False
    """By its reports, all of them up to now."""
    end_told: bool = False
    """It reported the end of a turn after the first key, and no prompt after that."""
    draft: bool = False


class InterruptProgress(Value):
    keys: int
    """How many it takes, one after the other."""
    within: float
    keeps_draft: bool
    """Whether what is typed and not sent outlasts the keys."""
    began: float | None = None
    pressed: int = 0
    pressed_at: float = 0.0
    rest_since: float = 0.0
    digest: str = ""


class InterruptAction(Value):
    """`key` is the number of the one to press; without it and without an end, look again."""

    key: int | None = None
    ended: InterruptOutcome | None = None
    proof: Witness = Witness.NONE
    reason: str = ""


LOOK_AGAIN = InterruptAction()
DRAFT = "somebody's unsent draft is in its input line, and the key that interrupts it would clear that"
OUTSIDE = "a dialog is open and no turn runs: answer it with `llmc answer`"


def advance(progress: InterruptProgress, look: InterruptLook) -> tuple[InterruptProgress, InterruptAction]:
    if progress.began is None:
        progress = replace(progress, began=look.at, rest_since=look.at, digest=look.digest)
    if look.digest != progress.digest or look.state in ("BUSY", "NEEDS_CONFIRMATION"):
        progress = replace(progress, digest=look.digest, rest_since=look.at)
    if look.gone:
        return progress, InterruptAction(ended=InterruptOutcome.UNKNOWN, reason="its process has ended")
    return _before_keys(progress, look) if progress.pressed == 0 else _after_keys(progress, look)


def _before_keys(progress: InterruptProgress, look: InterruptLook) -> tuple[InterruptProgress, InterruptAction]:
    assert progress.began is not None
    if look.state == "NEEDS_CONFIRMATION" and not look.turn_open:
        return progress, InterruptAction(ended=InterruptOutcome.UNKNOWN, reason=OUTSIDE)
    if look.state == "READY" and (not look.turn_open or look.detail == INTERRUPTED):
        return progress, InterruptAction(ended=InterruptOutcome.IDLE)
    if look.state not in ("BUSY", "NEEDS_CONFIRMATION") and look.at - progress.began < LOOKS_BUSY_WITHIN:
        return progress, LOOK_AGAIN
    if not look.turn_open and look.state != "BUSY":
        return progress, InterruptAction(ended=InterruptOutcome.IDLE)
    if look.draft and not progress.keeps_draft:
        return progress, InterruptAction(ended=InterruptOutcome.UNKNOWN, reason=DRAFT)
    return _press(progress, look)


def _after_keys(progress: InterruptProgress, look: InterruptLook) -> tuple[InterruptProgress, InterruptAction]:
    assert progress.began is not None
    if look.end_told and look.state not in ("BUSY", "NEEDS_CONFIRMATION"):
        return progress, InterruptAction(ended=InterruptOutcome.INTERRUPTED, proof=Witness.HOOK)
    rest = SAYS_SO_FOR if look.detail == INTERRUPTED else AT_REST_FOR
    if look.state == "READY" and look.at - progress.rest_since >= rest:
        return progress, InterruptAction(ended=InterruptOutcome.INTERRUPTED, proof=Witness.SCREEN)
    if look.at - progress.began >= progress.within:
        why = f"it does not stop within {progress.within:g} s"
        return progress, InterruptAction(ended=InterruptOutcome.UNKNOWN, reason=why)
    if look.state in ("BUSY", "NEEDS_CONFIRMATION") and _is_due(progress, look):
        return _press(progress, look)
    return progress, LOOK_AGAIN


def _is_due(progress: InterruptProgress, look: InterruptLook) -> bool:
    """The next key of a row, or the whole row again."""
    waited = look.at - progress.pressed_at
    rounds, within_row = divmod(progress.pressed, progress.keys)
    if within_row:
        return waited >= NEXT_KEY_AFTER
    return rounds < MAX_ROUNDS and waited >= AGAIN_AFTER * 2 ** (rounds - 1)


def _press(progress: InterruptProgress, look: InterruptLook) -> tuple[InterruptProgress, InterruptAction]:
    pressed = replace(progress, pressed=progress.pressed + 1, pressed_at=look.at, rest_since=look.at)
    return pressed, InterruptAction(key=progress.pressed % progress.keys)
