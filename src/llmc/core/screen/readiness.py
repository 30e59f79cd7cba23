"""Whether a terminal is ready, from one look at it after the other. Pure: a status and a look in, the next status out.

A screen counts as stable after so many looks in a row that found it unchanged. Only then is it said to be ready or
failed: while it changes, something runs. A dialog is told at once, but nobody is called before it has stayed.
What an agent reports by itself needs no such patience.
"""

from __future__ import annotations

from llmc.core.display import age, one_line
from llmc.core.lifecycle.clocks import not_after
from llmc.core.screen.assessment import LONGEST_SUMMARY, Assessment, TerminalStatus, assessment, in_words
from llmc.core.screen.fusion import fuse

SHOWN_AT_ONCE = frozenset(("BUSY", "NEEDS_CONFIRMATION", "EXITED"))
CALLS = frozenset(("READY", "NEEDS_CONFIRMATION", "ERROR", "EXITED"))
"""Somebody may be waiting to hear of these."""
CHANGES = assessment("screen", "BUSY", "its screen changes", confidence=0.6)
DOUBT = 0.4
"""Of a guess that has lasted for long: less than a model is asked for."""
QUIET_SECS = 60.0
QUIET_FACTORS = (1, 5, 15, 60, 240, 1440)
LOOK_AT_IT = "look whether it waits for something to be typed"
TYPING_SECS = 10.0
"""A screen that changes for longer does so by itself."""
LASTING_SECS = 3.0


def quieter(screen: Assessment, rests_secs: float, first_secs: float) -> Assessment:
    """A guess about a screen that shows nothing new for long: it may as well wait for somebody."""
    passed = [step for step in quiet_steps(first_secs) if step <= rests_secs]
    if not screen.get("guess") or not passed:
        return screen
    summary = f"{screen['summary']}, without output for {age(passed[-1])}"
    doubt = min(screen["confidence"], DOUBT)
    return {**screen, "confidence": doubt, "summary": summary, "actions_needed": (LOOK_AT_IT,)}


def quiet_steps(first_secs: float) -> tuple[float, ...]:
    """When the words about a screen at rest are others: a quiet terminal must not be news all the time."""
    return tuple(first_secs * factor for factor in QUIET_FACTORS)


def look_again(before: TerminalStatus | None, at: float, digest: str) -> TerminalStatus:
    """How long the screen has been as it is now. What that says is still as it was before."""
    new: TerminalStatus = {"last_snapshot_hash": digest, "last_change_unix": at, "stable_count": 0}
    if before is None:
        # Nothing was seen to change yet: it is taken as it looks.
        return {**new, "last_polled_unix": at, "since_unix": at, "called_for": ""}
    began = before.get("busy_since_unix")
    busy_since = None if began is None else not_after(began, at)  # the clock may have been set back
    seen: TerminalStatus = {**before, "last_polled_unix": at, "since_unix": not_after(before["since_unix"], at)}
    if digest != before["last_snapshot_hash"]:
        return {**seen, **new, "busy_since_unix": at if busy_since is None else busy_since}
    changed_at, count = not_after(before["last_change_unix"], at), before["stable_count"] + 1
    return {**seen, "last_change_unix": changed_at, "stable_count": count, "busy_since_unix": busy_since}


def assess(
    seen: TerminalStatus, screen: Assessment, told: Assessment | None, stable_looks: int, quiet_after_secs: float
) -> tuple[TerminalStatus, bool]:
    """The status after this look, and whether somebody should hear of it. `told` is the agent's own word, if any."""
    alone = _screen_alone(seen, screen, told, stable_looks, quiet_after_secs)
    counts = fuse(told, alone, seen["last_polled_unix"]) or alone
    status, called = _settle(seen, in_words(counts, screen), stable_looks)
    return {**status, "screen": alone, "disagreement": counts["disagreement"]}, called


def _screen_alone(
    seen: TerminalStatus, screen: Assessment, told: Assessment | None, stable_looks: int, quiet_after_secs: float
) -> Assessment:
    """What the screen says by itself, and whether it has said so for long enough to be taken seriously."""
    if told is not None and told["state"] != "BUSY":
        seen = {**seen, "busy_since_unix": None}  # it says that it is not at work, whatever changes on its screen
    shown, last, at = _shown(seen, screen, stable_looks), seen.get("screen"), seen["last_polled_unix"]
    since = last["since_unix"] if last is not None and last["state"] == shown["state"] else at
    return {
        "state": shown["state"],
        "detail": shown["detail"],
        "confidence": shown["confidence"],
        "source": shown["source"],
        "at_unix": seen["last_change_unix"],
        "since_unix": since,
        "lasting": is_stable(seen, stable_looks) or at - since >= LASTING_SECS,
        "quiet_after_secs": quiet_after_secs,
    }


def _settle(seen: TerminalStatus, said: Assessment, stable_looks: int) -> tuple[TerminalStatus, bool]:
    shown, at = _shown(seen, said, stable_looks), seen["last_polled_unix"]
    status: TerminalStatus = {
        **seen,
        **shown,
        "summary": one_line(shown["summary"], LONGEST_SUMMARY),
        "actions_needed": [one_line(action, LONGEST_SUMMARY) for action in shown["actions_needed"]],
        "since_unix": seen["since_unix"] if shown["state"] == seen.get("state") else at,
    }
    if shown["state"] == "BUSY":
        return ({**status, "worked": True, "called_for": ""} if _works(seen, said) else status), False
    if not _is_certain(said) and not is_stable(seen, stable_looks):
        return status, False
    status["busy_since_unix"] = None
    reason = f"{shown['state']} {shown['detail']} {shown['summary']}"
    # A prompt that comes back after a few typed letters is nothing to call anybody for.
    idle = shown["state"] == "READY" and not status.get("worked")
    if shown["state"] not in CALLS or status.get("called_for") == reason or idle:
        return status, False
    return {**status, "called_for": reason, "worked": False}, True


def is_stable(status: TerminalStatus, stable_looks: int) -> bool:
    return status["stable_count"] >= stable_looks


def _shown(seen: TerminalStatus, said: Assessment, stable_looks: int) -> Assessment:
    settled = _is_certain(said) or is_stable(seen, stable_looks) or seen.get("busy_since_unix") is None
    return said if settled or said["state"] in SHOWN_AT_ONCE else CHANGES


def _is_certain(said: Assessment) -> bool:
    """Not from the screen: the agent itself has told, or its process has ended."""
    return said["source"] != "screen"


def _works(seen: TerminalStatus, said: Assessment) -> bool:
    """Something says so, or its screen has changed for longer than typing a word takes."""
    busy_since = seen.get("busy_since_unix")
    by_itself = busy_since is not None and seen["last_polled_unix"] - busy_since >= TYPING_SECS
    return said["state"] == "BUSY" or by_itself
