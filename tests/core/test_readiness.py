"""Playbooks: given these looks at a terminal, this is shown of it and somebody is called then."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from llmc.core.screen.assessment import Assessment, TerminalStatus
from llmc.core.screen.readiness import QUIET_SECS, assess, is_stable, look_again, quieter

STABLE = 3


class Glance(NamedTuple):
    at: float
    digest: str
    screen: Assessment
    told: Assessment | None = None


def look_on(before: TerminalStatus | None, glance: Glance, stable: int = STABLE) -> tuple[TerminalStatus, bool]:
    seen = look_again(before, glance.at, glance.digest)
    return assess(seen, glance.screen, glance.told, stable, QUIET_SECS)


def play(*glances: Glance, stable: int = STABLE) -> list[tuple[str, str | None]]:
    """For each look, what is shown after it and for what somebody is called."""
    shown: list[tuple[str, str | None]] = []
    status: TerminalStatus | None = None
    for glance in glances:
        status, called = look_on(status, glance, stable)
        shown.append((status["state"], status["state"] if called else None))
    return shown


def says(state: str, summary: str = "", actions: Iterable[str] = (), *, detail: str | None = None) -> Assessment:
    return {
        "state": state,
        "detail": detail,
        "confidence": 0.9,
        "source": "screen",
        "cue": "",
        "summary": summary,
        "actions_needed": tuple(actions),
    }


def look(at: float, digest: str, state: str, *, summary: str = "") -> Glance:
    return Glance(at, digest, says(state, summary))


def report(at: float, digest: str, state: str) -> Glance:
    return Glance(at, digest, says("UNKNOWN"), {**says(state), "source": "hook", "at_unix": at})


def test_a_first_look_is_taken_as_it_is_and_calls_nobody():
    assert play(look(0, "a", "READY")) == [("READY", None)]
    assert play(look(0, "a", "UNKNOWN")) == [("UNKNOWN", None)]


def test_a_prompt_counts_only_when_it_stays():
    assert play(
        look(0, "a", "READY"),
        look(1, "b", "READY"),
        look(2, "b", "READY"),
        look(3, "b", "READY"),
        look(4, "b", "READY"),
    ) == [("READY", None), ("BUSY", None), ("BUSY", None), ("BUSY", None), ("READY", None)]


def test_a_command_that_ran_calls_once_when_it_is_over():
    ran = [look(0, "a", "READY"), look(1, "b", "BUSY"), look(30, "c", "READY")]
    quiet = [look(31 + n, "c", "READY") for n in range(6)]
    assert [call for _, call in play(*ran, *quiet)] == [None] * 5 + ["READY"] + [None] * 3


def test_typing_a_word_calls_nobody_and_a_long_change_does():
    typed = [look(n / 4, f"{n}", "READY") for n in range(8)]
    after = [look(3 + n, "7", "READY") for n in range(5)]
    assert {call for _, call in play(*typed, *after)} == {None}
    long = [look(n, f"{n}", "UNKNOWN") for n in range(15)]
    over = [look(15 + n, "14", "READY") for n in range(5)]
    assert [call for _, call in play(*long, *over) if call] == ["READY"]


def test_a_dialog_is_shown_at_once_and_called_for_when_it_stays():
    looks = [look(0, "a", "BUSY"), *(look(1 + n, "b", "NEEDS_CONFIRMATION") for n in range(6))]
    assert play(*looks) == [
        ("BUSY", None),
        *[("NEEDS_CONFIRMATION", None)] * 3,
        ("NEEDS_CONFIRMATION", "NEEDS_CONFIRMATION"),
        *[("NEEDS_CONFIRMATION", None)] * 2,
    ]


def test_words_of_an_error_that_scroll_by_are_no_error():
    scrolling = [look(n, f"{n}", "ERROR") for n in range(5)]
    assert [state for state, _ in play(*scrolling)] == ["ERROR"] + ["BUSY"] * 4
    assert [call for _, call in play(*scrolling, *(look(5 + n, "4", "ERROR") for n in range(3)))][-1] == "ERROR"


def test_another_dialog_calls_again_and_the_same_one_does_not():
    def dialog(at: float, digest: str, summary: str) -> list[Glance]:
        return [look(at + n, digest, "NEEDS_CONFIRMATION", summary=summary) for n in range(4)]

    calls = [call for _, call in play(*dialog(0, "a", "rm x"), *dialog(10, "b", "rm x"), *dialog(20, "c", "rm y"))]
    assert [n for n, call in enumerate(calls) if call] == [3, 11]


def test_what_the_agent_tells_itself_needs_no_patience():
    assert play(
        report(0, "a", "BUSY"),
        report(1, "b", "READY"),
        report(2, "c", "NEEDS_CONFIRMATION"),
    ) == [("BUSY", None), ("READY", "READY"), ("NEEDS_CONFIRMATION", "NEEDS_CONFIRMATION")]


def test_a_sure_screen_that_lasts_counts_for_more_than_an_older_report():
    told: Assessment = {**says("BUSY"), "source": "hook", "at_unix": 0.5}
    status, counted = None, []
    for at, digest, state in [(0, "a", "BUSY"), *((1 + n, "b", "ERROR") for n in range(4))]:
        status, _ = look_on(status, Glance(at, digest, says(state), told))
        counted.append((status["state"], status["source"], (status["disagreement"] or {}).get("source")))
    assert counted == [("BUSY", "hook", None)] * 4 + [("ERROR", "screen", "hook")]


def test_a_call_says_why_and_what_is_asked():
    asked = says("NEEDS_CONFIRMATION", "Bash: rm x", ["answer yes or no"], detail="permission")
    status: TerminalStatus | None = None
    for at in range(4):
        status, called = look_on(status, Glance(at, "a", asked))
    assert called
    assert (status["state"], status["detail"]) == ("NEEDS_CONFIRMATION", "permission")
    assert (status["summary"], status["actions_needed"]) == ("Bash: rm x", ["answer yes or no"])


STATES = st.sampled_from(["READY", "BUSY", "NEEDS_CONFIRMATION", "ERROR", "EXITED", "UNKNOWN"])


@given(st.lists(st.tuples(st.sampled_from("abc"), STATES), max_size=30), st.integers(1, 5))
def test_ready_or_failed_is_never_shown_of_a_screen_that_was_just_seen_to_change(looks, stable):
    status: TerminalStatus | None = None
    for at, (digest, state) in enumerate(looks):
        before = status
        status, called = look_on(status, look(at, digest, state), stable)
        if before is not None and before["last_snapshot_hash"] != digest:
            assert status["state"] not in ("READY", "ERROR", "UNKNOWN")
            assert not called
        if called:
            assert is_stable(status, stable)
            assert status["state"] == state


def test_a_guess_that_lasts_is_said_to_be_one():
    guess: Assessment = {**says("BUSY", "cat is running", detail="tool"), "guess": True}
    assert quieter(guess, 59, 60) == guess
    silent = quieter(guess, 61, 60)
    assert (silent["state"], silent["confidence"]) == ("BUSY", 0.4)
    assert silent["summary"] == "cat is running, without output for 1m"
    assert quieter(guess, 299, 60) == silent
    assert quieter(guess, 7300, 60)["summary"] == "cat is running, without output for 1h"
    read: Assessment = {**guess, "guess": False}
    assert quieter(read, 7300, 60) == read
