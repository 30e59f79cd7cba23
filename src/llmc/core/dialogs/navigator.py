"""Walking through a dialog: move the mark to the wanted option, look, then confirm. A machine without input and output.

`advance()` is shown the dialog as it is now and says what to press next. An Enter is pressed only while the mark is
seen on the wanted option; how many keys that takes is never counted in advance.
"""

from __future__ import annotations

import re
from dataclasses import replace
from enum import StrEnum

from llmc.core.dialogs.choosing import Goal
from llmc.core.dialogs.dialog import Dialog, bare, is_same
from llmc.values import Value

STEADY_FOR = 0.3
"""The mark must be seen on the option for so long: a dialog that is drawn anew puts it back where it was."""
MOVED_WITHIN = 1.0
"""Then the key is taken as lost, and pressed again."""
SHOWN_WITHIN = 1.5
GONE_WITHIN = 5.0
READ_WITHIN = 30.0
"""A program that has not read a key by then is stopped, or hangs."""
LOST_KEYS = 4
PIECE = 40
SHORTEST_PIECE = 3
SHORTCUT = re.compile(r"\([a-z]\)$")
"""The letter that takes an option at once."""


class DialogStage(StrEnum):
    MOVING = "moving"
    TYPED = "typed"
    """A text of one's own is on its way to the option."""
    CONFIRMED = "confirmed"


class DialogOutcome(StrEnum):
    TAKEN = "taken"
    """The dialog is gone after it was confirmed."""
    STAYS = "stays"
    """It was confirmed, and is still there."""
    CHANGED = "changed"
    """It was gone, or another one, before anything was confirmed."""
    LOST = "lost"
    """The same, but after words or an Enter: something may have been chosen."""
    STUCK = "stuck"
    """The mark does not get to the option; nothing was confirmed."""


class DialogLook(Value):
    at: float
    dialog: Dialog | None
    shows_text: bool = False
    """What was typed at the option so far is on the screen."""
    unread: bool = False
    """What was pressed waits in the terminal: the program has yet to read it."""


class Walk(Value):
    goal: Goal
    stage: DialogStage = DialogStage.MOVING
    pressed_at: float | None = None
    marked: int | None = None
    """Where the mark stood when the last key was pressed."""
    there_since: float | None = None
    """Since when the mark is seen on the option."""
    unread_since: float | None = None
    lost_keys: int = 0
    moves: int = 0
    typed: str = ""
    """What was typed at the option so far."""
    opened: bool = False
    """The option was chosen by an Enter first: it shows nothing that is typed at it before."""


class DialogMove(Value):
    """A text to type, then a key to press; neither: look again. With an ending nothing more is to be done."""

    text: str = ""
    key: str = ""
    ending: DialogOutcome | None = None


WAIT = DialogMove()
Next = tuple[Walk, DialogMove]


def advance(walk: Walk, look: DialogLook) -> Next:
    same = look.dialog is not None and is_same(walk.goal.dialog, look.dialog)
    if look.unread:
        return _unread(walk, look.at)
    walk = replace(walk, unread_since=None)
    if walk.stage is DialogStage.CONFIRMED:
        return walk, _after_confirming(walk, look, same=same)
    if walk.stage is DialogStage.TYPED:
        return _typed(walk, look, same=same)
    if look.dialog is None or not same:
        return walk, DialogMove(ending=DialogOutcome.CHANGED)
    return _moving(walk, look.dialog, look.at)


def _unread(walk: Walk, at: float) -> Next:
    """The screen is from before the last key: another one behind it could choose what nobody wants."""
    since = at if walk.unread_since is None else walk.unread_since
    if at - since < READ_WITHIN:
        return replace(walk, unread_since=since, there_since=None), WAIT
    endings = {
        DialogStage.MOVING: DialogOutcome.STUCK,
        DialogStage.TYPED: DialogOutcome.LOST,
        DialogStage.CONFIRMED: DialogOutcome.STAYS,
    }
    return walk, DialogMove(ending=endings[walk.stage])


def _after_confirming(walk: Walk, look: DialogLook, *, same: bool) -> DialogMove:
    if not same:
        return DialogMove(ending=DialogOutcome.TAKEN)
    return DialogMove(ending=DialogOutcome.STAYS) if _waited(walk, look.at, GONE_WITHIN) else WAIT


def _waited(walk: Walk, at: float, limit: float) -> bool:
    return walk.pressed_at is not None and at - walk.pressed_at >= limit


def _moving(walk: Walk, dialog: Dialog, at: float) -> Next:
    goal = walk.goal
    if goal.key:
        return _confirmed(walk, at, goal.key)
    if goal.option is None:
        return _confirmed(walk, at, "Enter", text=goal.text)
    wanted = goal.dialog.options[goal.option]
    if wanted.key:
        return _confirmed(walk, at, "Enter", text=wanted.key) if dialog.typed else _confirmed(walk, at, wanted.key)
    target = _find(dialog, wanted.words)
    if target is None or dialog.marked is None:
        return walk, DialogMove(ending=DialogOutcome.STUCK)
    if dialog.marked != target:
        return _one_step(replace(walk, there_since=None), dialog, target, at)
    walk = replace(walk, there_since=at if walk.there_since is None else walk.there_since)
    if walk.there_since is None or at - walk.there_since < STEADY_FOR:
        return walk, WAIT
    return _typing(replace(walk, stage=DialogStage.TYPED), at) if goal.text else _confirmed(walk, at, "Enter")


def _find(dialog: Dialog, words: str) -> int | None:
    fits = [at for at, option in enumerate(dialog.options) if bare(option.words) == bare(words)]
    return fits[0] if len(fits) == 1 else None


def _confirmed(walk: Walk, at: float, key: str, text: str = "") -> Next:
    return replace(walk, stage=DialogStage.CONFIRMED, pressed_at=at), DialogMove(text, key)


def _one_step(walk: Walk, dialog: Dialog, target: int, at: float) -> Next:
    """One key, then a look: the mark must be seen to have moved before the next."""
    assert dialog.marked is not None
    waits = walk.pressed_at is not None and dialog.marked == walk.marked
    if waits and not _waited(walk, at, MOVED_WITHIN):
        return walk, WAIT
    lost = walk.lost_keys + 1 if waits else 0
    if lost > LOST_KEYS or walk.moves > 4 * len(dialog.options):
        return walk, DialogMove(ending=DialogOutcome.STUCK)
    onwards = target > dialog.marked
    key = ("Right" if onwards else "Left") if dialog.across else ("Down" if onwards else "Up")
    moved = replace(walk, pressed_at=at, marked=dialog.marked, lost_keys=lost, moves=walk.moves + 1)
    return moved, DialogMove(key=key)


def _typing(walk: Walk, at: float) -> Next:
    """The beginning of the text: a digit in it might take another option where the text is not wanted yet."""
    piece = re.split(r"\d", walk.goal.text, maxsplit=1)[0][:PIECE]
    if len(piece.strip()) < SHORTEST_PIECE or _takes_letters(walk.goal.dialog):
        return _opened(walk, at)
    return replace(walk, typed=piece, pressed_at=at), DialogMove(text=piece)


def _takes_letters(dialog: Dialog) -> bool:
    """`Yes, proceed (y)`: any word with that letter would take it."""
    return any(SHORTCUT.search(option.words) for option in dialog.options)


def _opened(walk: Walk, at: float) -> Next:
    return replace(walk, opened=True, typed="", pressed_at=at), DialogMove(key="Enter")


def _typed(walk: Walk, look: DialogLook, *, same: bool) -> Next:
    """The text is seen before it is submitted. Some options take one only after they were chosen."""
    text = walk.goal.text
    if walk.opened and not walk.typed:
        return _into_the_opened(walk, look, same=same)
    if look.shows_text and walk.typed == text:
        return _confirmed(walk, look.at, "Enter")
    if look.shows_text:
        return replace(walk, typed=text, pressed_at=look.at), DialogMove(text=text[len(walk.typed) :])
    if not _waited(walk, look.at, SHOWN_WITHIN):
        return walk, WAIT
    if walk.opened:
        return walk, DialogMove(ending=DialogOutcome.STAYS)
    marked = look.dialog is not None and look.dialog.marked == walk.goal.option
    return _opened(walk, look.at) if same and marked else (walk, DialogMove(ending=DialogOutcome.LOST))


def _into_the_opened(walk: Walk, look: DialogLook, *, same: bool) -> Next:
    """The text goes to what the Enter has opened, and never to the options of another dialog."""
    if look.dialog is not None and look.dialog.options and not same:
        return walk, DialogMove(ending=DialogOutcome.LOST)
    if same and _takes_letters(walk.goal.dialog):
        return (walk, DialogMove(ending=DialogOutcome.STAYS)) if _waited(walk, look.at, GONE_WITHIN) else (walk, WAIT)
    text = walk.goal.text
    return replace(walk, typed=text, pressed_at=look.at), DialogMove(text=text)
