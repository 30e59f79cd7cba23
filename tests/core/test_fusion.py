"""Which signal counts, and what is said of one that differs."""

from __future__ import annotations

from typing import Any

import pytest

from llmc.core.screen.assessment import Assessment
from llmc.core.screen.fusion import INTERRUPTED_AFTER_SECS, fuse, told_by_agent

LONG_AGO, BEFORE, SINCE = 1.0, 3.0, 5.0
NOW = 10.0
QUIET_SECS = 60.0


def signal(source: str, state: str, at: float) -> Assessment:
    return {"state": state, "detail": None, "confidence": 0.9, "source": source, "at_unix": at}


@pytest.mark.parametrize(
    ("hook", "session", "screen", "source", "state", "otherwise"),
    [
        (None, None, None, None, None, None),
        (None, None, ("BUSY", 5), "screen", "BUSY", None),
        (("READY", 1), None, ("READY", 5), "hook", "READY", None),
        (("BUSY", 1), None, ("READY", 5), "hook", "BUSY", "READY"),
        (("BUSY", 9), None, ("READY", 5), "hook", "BUSY", None),
        (("BUSY", 1), None, ("UNKNOWN", 5), "hook", "BUSY", None),
        (("BUSY", 1), ("READY", 3), None, "session", "READY", None),
        (("BUSY", 4), ("READY", 3), None, "hook", "BUSY", None),
        (("ERROR", 1), ("READY", 3), None, "hook", "ERROR", None),
        (("READY", 1), ("BUSY", 3), None, "session", "BUSY", None),
        (None, ("READY", 3), ("ERROR", 5), "screen", "ERROR", None),
        (None, ("READY", 3), ("NEEDS_CONFIRMATION", 5), "screen", "NEEDS_CONFIRMATION", "READY"),
    ],
)
def test_the_agent_itself_outranks_its_screen(hook, session, screen, source, state, otherwise):
    named = (("hook", hook), ("session", session), ("screen", screen))
    reported, kept, shown = (signal(name, *said) if said else None for name, said in named)
    fused = fuse(told_by_agent(reported, kept), shown, NOW)
    if source is None:
        assert fused is None
        return
    assert fused is not None
    assert (fused["source"], fused["state"]) == (source, state)
    assert (fused["disagreement"] or {}).get("state") == otherwise


def seen(state: str, at: float = SINCE, **more: Any) -> Assessment:
    return {**signal("screen", state, at), "lasting": True, "quiet_after_secs": QUIET_SECS, **more}


@pytest.mark.parametrize("shown", ["ERROR", "NEEDS_CONFIRMATION", "EXITED"])
@pytest.mark.parametrize("told", ["BUSY", "READY"])
def test_a_sure_screen_from_after_the_last_report_overtakes_it(told: str, shown: str) -> None:
    fused = fuse(signal("hook", told, BEFORE), seen(shown), NOW)
    assert fused is not None
    assert (fused["source"], fused["state"]) == ("screen", shown)
    assert (fused["disagreement"]["source"], fused["disagreement"]["state"]) == ("hook", told)


@pytest.mark.parametrize(
    "screen",
    [
        seen("ERROR", LONG_AGO),  # of the turn before
        seen("ERROR", BEFORE),
        seen("ERROR", lasting=False),  # half drawn
        seen("ERROR", confidence=0.6),
        {"state": "ERROR", "at_unix": SINCE},  # a file that somebody has edited
        seen("UNKNOWN"),
        seen("READY"),  # between two steps
        seen("READY", LONG_AGO),
    ],
)
def test_any_other_screen_does_not(screen: Assessment) -> None:
    fused = fuse(signal("hook", "BUSY", BEFORE), screen, NOW)
    assert fused is not None
    assert (fused["source"], fused["state"]) == ("hook", "BUSY")


@pytest.mark.lesson(43, "an interrupt that nobody reports is a fact: the screen that says so ends the turn")
@pytest.mark.parametrize("told", ["BUSY", "NEEDS_CONFIRMATION", "READY"])
def test_an_interrupt_that_the_screen_shows_ends_what_was_told_before(told: str) -> None:
    fused = fuse(signal("hook", told, BEFORE), seen("READY", detail="interrupted"), NOW)
    assert fused is not None
    assert (fused["source"], fused["state"], fused["detail"]) == ("screen", "READY", "interrupted")


@pytest.mark.parametrize(("later", "state"), [(1.0, "BUSY"), (INTERRUPTED_AFTER_SECS, "READY")])
def test_a_tool_that_was_stopped_with_the_turn_may_be_reported_after_it(later: float, state: str) -> None:
    shown = seen("READY", detail="interrupted")
    assert (fuse(signal("hook", "BUSY", SINCE + 1), shown, SINCE + 1 + later) or {})["state"] == state


@pytest.mark.parametrize(("told", "believed"), [("BUSY", True), ("NEEDS_CONFIRMATION", True), ("ERROR", False)])
def test_a_screen_that_looks_ready_is_believed_when_nothing_was_heard_for_long(told: str, believed: bool) -> None:
    hook = signal("hook", told, BEFORE)
    early = fuse(hook, seen("READY"), SINCE + QUIET_SECS - 1)
    late = fuse(hook, seen("READY"), SINCE + QUIET_SECS)
    assert early is not None
    assert late is not None
    assert early["state"] == told
    assert late["state"] == ("READY" if believed else told)


def test_the_next_report_counts_again() -> None:
    failed = seen("ERROR")
    assert (fuse(signal("hook", "BUSY", BEFORE), failed, NOW) or {})["state"] == "ERROR"
    assert (fuse(signal("hook", "BUSY", SINCE + 1), failed, NOW) or {})["state"] == "BUSY"


@pytest.mark.parametrize(
    ("since", "confidence", "state"),
    [
        (SINCE, 0.95, "BUSY"),
        (LONG_AGO, 0.95, "NEEDS_CONFIRMATION"),  # the dialog is not drawn yet
        (SINCE, 0.6, "NEEDS_CONFIRMATION"),  # it only changes
    ],
)
def test_work_that_begins_after_a_question_tells_that_it_was_answered(
    since: float, confidence: float, state: str
) -> None:
    asked = signal("hook", "NEEDS_CONFIRMATION", BEFORE)
    works = seen("BUSY", since_unix=since, confidence=confidence, lasting=False)
    assert (fuse(asked, works, NOW) or {})["state"] == state
