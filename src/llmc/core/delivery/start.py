"""From the launch of an agent until it takes its first prompt. A machine without input and output.

`advance()` is shown the terminal and says what to do next: look again, take an option of a dialog that the pack knows,
or end with what has come of it. A dialog that nobody may pass is the person's: the start waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from types import MappingProxyType

from llmc.core.dialogs.choosing import Goal, goal_by_pattern
from llmc.core.dialogs.dialog import Dialog
from llmc.core.screen.classify import ScreenReading
from llmc.values import Value

EVENTS_WITHIN = 3.0
"""How long an agent that has drawn its prompt may take until its first report."""
DRAWN_FOR = 0.4
"""A dialog that is drawn anew in the moment of its answer may take another option."""
STAYS_FOR = 1.5
"""A dialog that was not seen to change for so long waits for somebody."""
MOVES_FOR = 4.0
"""So does one that shows the same options for so long, whatever else moves on the screen."""
TRY_AGAIN_AFTER = 3.0
MOST_TRIES = 3
RESTS_FOR = 3.0
"""A screen of which nobody has told what it looks like."""
STRANGE_FOR = 8.0
"""A screen at rest on which nothing is recognised."""


class Manners(Value):
    """What is known of the agent."""

    reports_start: bool
    steady_secs: float
    screen_unknown: bool
    """It reports, and nobody has told what its screen looks like."""
    pack_unknown: bool
    """The pack is not made for it: words in its input line at the start are a hint of its own."""
    ready_states: frozenset[str]
    timeout_secs: float


class StartLook(Value):
    at: float
    reading: ScreenReading
    digest: str
    """Of the whole screen."""
    words: str
    """The last lines on it; empty when it is blank."""
    reads: bool
    """What was typed so far is read."""
    reported: bool
    """It has reported its start."""


class StartProgress(Value):
    began: float | None = None
    ready_since: float | None = None
    digest: str = ""
    rests_since: float = 0.0
    options: str | None = None
    """Of the dialog that was seen last."""
    asks_since: float = 0.0
    tries: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """How often each dialog was answered, by its id."""
    tried_at: float | None = None


class Ready(Value):
    reported: bool
    hint: str = ""
    """What an empty input line of its shows."""


class Waits(Value):
    """For a person."""

    dialog: Dialog
    advice: str = ""


class Failed(Value):
    reason: str


Action = Goal | Ready | Waits | Failed | None
"""None: look again. A goal: take that option, then look again."""
Next = tuple[StartProgress, Action]


def advance(progress: StartProgress, look: StartLook, manners: Manners) -> Next:
    progress = _seen(progress, look)
    if look.reading.state == "NEEDS_CONFIRMATION" and look.reading.dialog is not None:
        return _dialog(_asked(progress, look), look, look.reading.dialog)
    progress = replace(progress, options=None)
    if (ready := _ready(progress, look, manners)) is None:
        return replace(progress, ready_since=None), _not_yet(progress, look, manners)
    progress = replace(progress, ready_since=progress.ready_since or look.at)
    patience = EVENTS_WITHIN if manners.reports_start else manners.steady_secs
    at_once = look.reported and look.reading.composer == ""
    waited = progress.ready_since is not None and look.at - progress.ready_since >= patience
    return progress, ready if at_once or waited else None


def _seen(progress: StartProgress, look: StartLook) -> StartProgress:
    if progress.began is None:
        progress = replace(progress, began=look.at)
    if look.digest != progress.digest:
        progress = replace(progress, digest=look.digest, rests_since=look.at)
    return progress


def _asked(progress: StartProgress, look: StartLook) -> StartProgress:
    options = look.reading.dialog.listed if look.reading.dialog is not None else None
    since = progress.asks_since if options == progress.options else look.at
    return replace(progress, ready_since=None, options=options, asks_since=since)


def _dialog(progress: StartProgress, look: StartLook, dialog: Dialog) -> Next:
    cue = look.reading.matched
    goal = goal_by_pattern(dialog, cue.choose) if cue is not None and cue.choose is not None else None
    tries = progress.tries.get(dialog.id, 0)
    if tries and progress.tried_at is not None and look.at - progress.tried_at < TRY_AGAIN_AFTER:
        return progress, None
    moves = look.at - progress.asks_since < MOVES_FOR
    if look.at - progress.rests_since < DRAWN_FOR and moves:
        return progress, None
    if goal is not None and tries < MOST_TRIES:
        tried = MappingProxyType({**progress.tries, dialog.id: tries + 1})
        return replace(progress, tries=tried, tried_at=look.at), goal
    if look.at - progress.rests_since < STAYS_FOR and moves:
        return progress, None
    return progress, Waits(dialog, cue.advice if cue is not None else "")


def _ready(progress: StartProgress, look: StartLook, manners: Manners) -> Ready | None:
    """It takes a prompt, as far as can be seen at this moment."""
    if not look.reads:
        return None  # it may draw its input line, and report, long before it reads what is typed there
    if look.reading.state in manners.ready_states and look.reading.composer == "":
        return Ready(look.reported)
    rests = look.at - progress.rests_since >= RESTS_FOR and bool(look.words)
    if manners.screen_unknown and (look.reported or rests):
        return Ready(look.reported)
    hinted = manners.pack_unknown and rests and look.reading.state == "READY" and look.reading.composer
    return Ready(look.reported, look.reading.composer or "") if hinted else None


def _not_yet(progress: StartProgress, look: StartLook, manners: Manners) -> Waits | Failed | None:
    at_rest = look.at - progress.rests_since
    if look.reading.state == "UNKNOWN" and look.words and at_rest >= STRANGE_FOR:
        return Waits(Dialog(look.words), "its screen shows nothing that LLMC knows")
    if progress.began is not None and look.at - progress.began >= manners.timeout_secs:
        return Failed(f"it was not ready within {manners.timeout_secs:.0f} s")
    return None
