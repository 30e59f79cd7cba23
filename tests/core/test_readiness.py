"""Playbooks: given these looks at a terminal, this is shown of it and somebody is called then."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from llmc.core.screen.readiness import Call, Look, Opinion, Standing, is_stable, look_again, quieter

STABLE = 3


def play(*looks: Look, stable: int = STABLE, after: Standing | None = None) -> list[tuple[str, str | None]]:
    """For each look, what is shown after it and for what somebody is called."""
    shown: list[tuple[str, str | None]] = []
    standing = after
    for look in looks:
        standing, call = look_again(standing, look, stable)
        shown.append((standing.shown.state, call.state if call else None))
    return shown


def look(at: float, digest: str, state: str, *, source: str = "screen", summary: str = "") -> Look:
    return Look(at, digest, Opinion(state, None, 0.9, summary, source=source))


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
    def dialog(at: float, digest: str, summary: str) -> list[Look]:
        return [look(at + n, digest, "NEEDS_CONFIRMATION", summary=summary) for n in range(4)]

    calls = [call for _, call in play(*dialog(0, "a", "rm x"), *dialog(10, "b", "rm x"), *dialog(20, "c", "rm y"))]
    assert [n for n, call in enumerate(calls) if call] == [3, 11]


def test_what_the_agent_tells_itself_needs_no_patience():
    assert play(
        look(0, "a", "BUSY", source="hook"),
        look(1, "b", "READY", source="hook"),
        look(2, "c", "NEEDS_CONFIRMATION", source="hook"),
    ) == [("BUSY", None), ("READY", "READY"), ("NEEDS_CONFIRMATION", "NEEDS_CONFIRMATION")]


def test_a_call_says_why_and_what_is_asked():
    asked = Opinion("NEEDS_CONFIRMATION", "permission", 0.9, "Bash: rm x", ("answer yes or no",))
    standing = None
    for at in range(4):
        standing, call = look_again(standing, Look(at, "a", asked), STABLE)
    assert call == Call("NEEDS_CONFIRMATION", "permission", "Bash: rm x", ("answer yes or no",))


STATES = st.sampled_from(["READY", "BUSY", "NEEDS_CONFIRMATION", "ERROR", "EXITED", "UNKNOWN"])


@given(st.lists(st.tuples(st.sampled_from("abc"), STATES), max_size=30), st.integers(1, 5))
def test_ready_or_failed_is_never_shown_of_a_screen_that_was_just_seen_to_change(looks, stable):
    standing: Standing | None = None
    for at, (digest, state) in enumerate(looks):
        before = standing
        standing, call = look_again(standing, look(at, digest, state), stable)
        if before is not None and before.digest != digest:
            assert standing.shown.state not in ("READY", "ERROR", "UNKNOWN")
            assert call is None
        if call is not None:
            assert is_stable(standing, stable)
            assert call.state == standing.shown.state


def test_a_guess_that_lasts_is_said_to_be_one():
    guess = Opinion("BUSY", "tool", 0.9, "cat is running", guess=True)
    assert quieter(guess, 59, 60) == guess
    silent = quieter(guess, 61, 60)
    assert (silent.state, silent.confidence, silent.summary) == ("BUSY", 0.4, "cat is running, without output for 1m")
    assert quieter(guess, 299, 60) == silent
    assert quieter(guess, 7300, 60).summary == "cat is running, without output for 1h"
    read = replace(guess, guess=False)
    assert quieter(read, 7300, 60) == read
