"""Whether a terminal is ready, from one look at it after the other. Pure: looks in, standing and calls out.

A screen counts as stable after so many looks in a row that found it unchanged. Only then is it said to be ready or
failed: while it changes, something runs. A dialog is told at once, but nobody is called before it has stayed.
What an agent reports by itself needs no such patience.
"""

from __future__ import annotations

from dataclasses import replace

from llmc.core.display import age
from llmc.core.lifecycle.clocks import not_after
from llmc.values import dataclass

DEFAULT_STABLE_LOOKS = 3
SHOWN_AT_ONCE = frozenset(("BUSY", "NEEDS_CONFIRMATION", "EXITED"))
CALLS = frozenset(("READY", "NEEDS_CONFIRMATION", "ERROR", "EXITED"))
"""Somebody may be waiting to hear of these."""
CHANGES = "its screen changes"
CHANGE_CONFIDENCE = 0.6
DOUBT = 0.4
"""Of a guess that has lasted for long: less than a model is asked for."""
QUIET_SECS = 60.0
QUIET_FACTORS = (1, 5, 15, 60, 240, 1440)
LOOK_AT_IT = "look whether it waits for something to be typed"
TYPING_SECS = 10.0
"""A screen that changes for longer does so by itself."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a signal says of a terminal."""

    state: str
    detail: str | None = None
    confidence: float = 0.0
    summary: str = ""
    actions_needed: tuple[str, ...] = ()
    cue: str = ""
    source: str = "screen"
    guess: bool = False
    """It is likely, and nothing on the screen says so."""


@dataclass(frozen=True, slots=True)
class Look:
    at: float
    digest: str
    """Of all that the terminal shows."""
    opinion: Opinion

    @property
    def certain(self) -> bool:
        """Not from the screen: the agent itself has told."""
        return self.opinion.source != "screen"


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a terminal after some looks."""

    digest: str
    changed_at: float
    looked_at: float
    stable_count: int
    shown: Opinion
    since: float
    """When it began to be shown in this state."""
    busy_since: float | None = None
    """Since when its screen changes, if it does."""
    worked: bool = False
    """Something ran since somebody was last called."""
    called_for: str = ""
    """What somebody was last called for; empty when that is over."""


@dataclass(frozen=True, slots=True)
class Call:
    """Somebody should hear of this."""

    state: str
    detail: str | None
    summary: str
    actions_needed: tuple[str, ...]


def look_again(standing: Standing | None, look: Look, stable_looks: int) -> tuple[Standing, Call | None]:
    seen = _first(look) if standing is None else _seen(_by_its_clock(standing, look.at), look)
    shown = _shown(look, seen, stable_looks)
    since = seen.since if shown.state == seen.shown.state else look.at
    return _called(replace(seen, shown=shown, since=since), look, stable_looks)


def seen_alone(standing: Standing, opinion: Opinion, stable_looks: int) -> Opinion:
    """What would be shown if there were nothing but the screen."""
    return _shown(Look(standing.looked_at, standing.digest, opinion), standing, stable_looks)


def quieter(opinion: Opinion, rests_secs: float, first_secs: float) -> Opinion:
    """A guess about a screen that shows nothing new for long: it may as well wait for somebody."""
    passed = [step for step in quiet_steps(first_secs) if step <= rests_secs]
    if not opinion.guess or not passed:
        return opinion
    summary = f"{opinion.summary}, without output for {age(passed[-1])}"
    return replace(opinion, confidence=min(opinion.confidence, DOUBT), summary=summary, actions_needed=(LOOK_AT_IT,))


def quiet_steps(first_secs: float) -> tuple[float, ...]:
    """When the words about a screen at rest are others: a quiet terminal must not be news all the time."""
    return tuple(first_secs * factor for factor in QUIET_FACTORS)


def is_stable(standing: Standing, stable_looks: int) -> bool:
    return standing.stable_count >= stable_looks


def _first(look: Look) -> Standing:
    """Nothing was seen to change yet: it is taken as it looks."""
    return Standing(look.digest, look.at, look.at, 0, look.opinion, look.at)


def _by_its_clock(standing: Standing, now: float) -> Standing:
    """The clock may have been set back since the last look."""
    busy_since = None if standing.busy_since is None else not_after(standing.busy_since, now)
    changed_at, since = not_after(standing.changed_at, now), not_after(standing.since, now)
    return replace(standing, changed_at=changed_at, since=since, busy_since=busy_since)


def _seen(standing: Standing, look: Look) -> Standing:
    if look.digest == standing.digest:
        return replace(standing, looked_at=look.at, stable_count=standing.stable_count + 1)
    busy_since = look.at if standing.busy_since is None else standing.busy_since
    return replace(
        standing, digest=look.digest, changed_at=look.at, looked_at=look.at, stable_count=0, busy_since=busy_since
    )


def _shown(look: Look, seen: Standing, stable_looks: int) -> Opinion:
    opinion = look.opinion
    settled = look.certain or is_stable(seen, stable_looks) or seen.busy_since is None
    if settled or opinion.state in SHOWN_AT_ONCE:
        return opinion
    return Opinion("BUSY", None, CHANGE_CONFIDENCE, CHANGES)


def _called(standing: Standing, look: Look, stable_looks: int) -> tuple[Standing, Call | None]:
    shown = standing.shown
    if shown.state == "BUSY":
        return _busy(standing, look), None
    if not (look.certain or is_stable(standing, stable_looks)):
        return standing, None
    standing = replace(standing, busy_since=None)
    reason = f"{shown.state} {shown.detail} {shown.summary}"
    # A prompt that comes back after a few typed letters is nothing to call anybody for.
    if shown.state not in CALLS or standing.called_for == reason or (shown.state == "READY" and not standing.worked):
        return standing, None
    call = Call(shown.state, shown.detail, shown.summary, shown.actions_needed)
    return replace(standing, called_for=reason, worked=False), call


def _busy(standing: Standing, look: Look) -> Standing:
    """It worked if something says so, or if its screen has changed for longer than typing a word takes."""
    by_itself = standing.busy_since is not None and look.at - standing.busy_since >= TYPING_SECS
    if look.opinion.state == "BUSY" or by_itself:
        return replace(standing, worked=True, called_for="")
    return standing
