"""Which of the assessments of a terminal counts. Light on imports: the status line asks this every few seconds.

What the agent itself tells, by its reports (`hook`) or a file of its own (`session`, `transcript`), outranks what its
screen looks like, until the screen shows for sure what came after it: no CLI reports every failure, every dialog and
every interrupt. Where they differ, that is told too.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from llmc.core.screen.assessment import Assessment

NOTHING_KNOWN = "UNKNOWN"
OVER_BY_NOW = ("BUSY", "NEEDS_CONFIRMATION")
"""What a report says until the next one comes. No CLI reports every interrupt, so its own file may know better."""
UNMISTAKABLE = ("ERROR", "NEEDS_CONFIRMATION", "EXITED")
"""No screen shows these for longer than a moment while a turn goes on; between two steps it may well look ready."""
INTERRUPTED = "interrupted"
"""The detail of a screen that says that somebody ended the turn: hardly any CLI reports that."""
INTERRUPTED_AFTER_SECS = 3.0
"""A tool that was stopped with the turn may be reported a moment after the screen was drawn."""
OWN_FILES = ("session", "transcript")
CONFIDENT = 0.85
QUIET_AFTER_SECS = 60.0


def fuse(told: Assessment | None, screen: Assessment | None, now: float) -> Assessment | None:
    """The one that counts, with `disagreement`: the other one, if that says otherwise."""
    if told is None or screen is None:
        only = told or screen
        return None if only is None else {**only, "disagreement": None}
    if _refines(told, screen):
        return {**screen, "disagreement": None}
    at = overtaken_at(told, screen)
    if at is not None and now >= at:
        return {**screen, "disagreement": _in_short(told)}
    return {**told, "disagreement": _in_short(screen) if _disagrees(told, screen) else None}


def told_by_agent(hook: Assessment | None, session: Assessment | None) -> Assessment | None:
    if hook is None or session is None:
        return hook or session
    newer = _at(session) > _at(hook)
    return session if newer and (hook["state"] in OVER_BY_NOW or session["state"] in OVER_BY_NOW) else hook


def is_contested(told: Assessment, screen: Assessment) -> bool:
    """The screen shows for sure what the agent has not told, and it came later. It may be half drawn."""
    unmistakable = screen["state"] in UNMISTAKABLE or _shows_interrupt(told, screen)
    return unmistakable and screen["state"] != told["state"] and _is_confident(screen) and _at(screen) > _at(told)


def overtaken_at(told: Assessment, screen: Assessment) -> float | None:
    """From when on the screen counts instead, if it stays as it is; None: it does not."""
    if _is_answered(told, screen):
        return _since(screen)
    if not screen.get("lasting", True):
        return None
    if is_contested(told, screen):
        return _at(screen)
    if _shows_interrupt(told, screen):
        return _at(told) + INTERRUPTED_AFTER_SECS
    if told["state"] in OVER_BY_NOW and screen["state"] == "READY" and _is_confident(screen):
        return max(_at(told), _at(screen)) + (_number(screen.get("quiet_after_secs")) or QUIET_AFTER_SECS)
    return None


def _shows_interrupt(told: Assessment, screen: Assessment) -> bool:
    """The turn that was told of last is over, by somebody's key."""
    shown = (screen["state"], screen.get("detail")) == ("READY", INTERRUPTED)
    return shown and told["state"] in OVER_BY_NOW and _is_confident(screen)


def _is_answered(told: Assessment, screen: Assessment) -> bool:
    """Its work was seen to begin after it had asked: a screen from before the dialog has shown work for longer."""
    works_on = (told["state"], screen["state"]) == ("NEEDS_CONFIRMATION", "BUSY")
    return works_on and _is_confident(screen) and _since(screen) > _at(told)


def _refines(told: Assessment, screen: Assessment) -> bool:
    """Idle is an agent after an interrupt too, and, by a file of its own, after a failure: the screen says which."""
    if told["state"] != "READY":
        return False
    if screen["state"] == "READY":
        return screen.get("detail") == INTERRUPTED and _is_confident(screen) and bool(screen.get("lasting", True))
    return screen["state"] == "ERROR" and told.get("source") in OWN_FILES


def _disagrees(told: Assessment, screen: Assessment) -> bool:
    """Not where it may be half drawn."""
    otherwise = screen["state"] not in (NOTHING_KNOWN, told["state"]) and _at(screen) > _at(told)
    return otherwise and bool(screen.get("lasting", True))


def _in_short(said: Assessment) -> Assessment:
    return {key: said.get(key) for key in ("source", "state", "detail", "confidence", "at_unix")}  # type: ignore[return-value]


def _at(said: Assessment) -> float:
    return _number(said.get("at_unix"))


def _since(screen: Assessment) -> float:
    return _number(screen.get("since_unix"))


def _is_confident(screen: Assessment) -> bool:
    return _number(screen.get("confidence")) >= CONFIDENT


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
