"""From the launch of an agent to its first prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from llmc.core.delivery.start import Action, Failed, Manners, Ready, StartLook, StartProgress, Waits, advance
from llmc.core.dialogs.choosing import Goal
from llmc.core.dialogs.dialog import Dialog, Option
from llmc.core.screen.classify import ScreenReading
from llmc.core.screen.cues import Cue
from llmc.core.screen.patterns import safe_pattern

KNOWN = Manners(True, 0.8, False, False, frozenset({"READY"}), 120.0)
STRANGE = replace(KNOWN, reports_start=False, pack_unknown=True)
TRUST = Dialog("Trust it?", (Option("No, exit"), Option("Yes")), marked=0)
PASSED = Cue("trust", "NEEDS_CONFIRMATION", (), choose=safe_pattern("^Yes"))
LOGIN = Cue("login", "NEEDS_CONFIRMATION", (), advice="log in first")
READY = ScreenReading({"state": "READY"}, composer="")
BUSY = ScreenReading({"state": "BUSY"})
UNKNOWN = ScreenReading({"state": "UNKNOWN"})


def asks(cue: Cue | None, dialog: Dialog = TRUST) -> ScreenReading:
    return ScreenReading({"state": "NEEDS_CONFIRMATION"}, matched=cue, dialog=dialog)


def look(reading: ScreenReading, *, reported: bool = False, reads: bool = True, digest: str = "") -> StartLook:
    return StartLook(0.0, reading, digest or str(reading), "some words", reads, reported)


def begins(*shown: StartLook | Callable[[float], StartLook], manners: Manners = KNOWN) -> list[tuple[float, Action]]:
    """What is done, and when; each of these is shown for two seconds, the last one to the end."""
    progress, done = StartProgress(), []
    for step in range(20_000):
        at = step * 0.05
        now = shown[min(int(at // 2), len(shown) - 1)]
        progress, action = advance(progress, replace(now(at) if callable(now) else now, at=at), manners)
        if action is not None:
            done.append((at, action))
        if action is not None and not isinstance(action, Goal):
            return done
    raise AssertionError("no end")


def ending(*shown: StartLook | Callable[[float], StartLook], manners: Manners = KNOWN) -> Action:
    return begins(*shown, manners=manners)[-1][1]


def test_a_prompt_and_a_report_are_ready_at_once() -> None:
    assert begins(look(READY, reported=True)) == [(0.0, Ready(True))]


def test_without_a_report_the_prompt_must_stay() -> None:
    [(at, action)] = begins(look(READY))
    assert (action, at >= 3.0) == (Ready(False), True)


def test_a_prompt_that_is_not_read_is_not_ready() -> None:
    assert ending(look(READY, reported=True, reads=False)) == Failed("it was not ready within 120 s")


@pytest.mark.lesson(41, "options are chosen by their words, and a dialog that nobody knows is a question at once")
def test_a_dialog_that_the_pack_names_an_option_of_is_passed() -> None:
    done = begins(look(asks(PASSED)), look(READY, reported=True))
    assert isinstance(done[0][1], Goal)
    assert done[0][1].option == 1
    assert done[-1][1] == Ready(True)


def test_one_that_stays_although_it_was_answered_is_left_to_the_person() -> None:
    done = begins(look(asks(PASSED)))
    assert [type(action) for _, action in done] == [Goal, Goal, Goal, Waits]


@pytest.mark.lesson(41, "options are chosen by their words, and a dialog that nobody knows is a question at once")
@pytest.mark.parametrize("cue", [None, Cue("dialog", "NEEDS_CONFIRMATION", ())])
def test_a_dialog_that_nobody_knows_is_a_question_within_seconds(cue: Cue | None) -> None:
    [(at, action)] = begins(look(asks(cue)))
    assert action == Waits(TRUST)
    assert at < 5


def test_what_only_the_person_can_do_comes_with_the_advice() -> None:
    assert ending(look(asks(LOGIN))) == Waits(TRUST, "log in first")


def test_a_dialog_that_is_still_being_drawn_is_not_told() -> None:
    drawn = [look(asks(None), digest=str(n)) for n in range(3)]
    done = begins(lambda at: drawn[int(at / 0.05) % 3], look(READY, reported=True))
    assert done[-1][1] == Ready(True)


def test_a_strange_screen_at_rest_is_told_and_not_ended() -> None:
    action = ending(look(UNKNOWN))
    assert isinstance(action, Waits)
    assert action.dialog.question == "some words"


def test_who_is_busy_for_ever_has_failed() -> None:
    assert isinstance(ending(look(BUSY)), Failed)


def test_of_an_agent_that_nobody_knows_the_words_in_its_input_line_are_a_hint() -> None:
    hinted = look(ScreenReading({"state": "READY"}, composer="Ask me anything"))
    assert ending(hinted, manners=STRANGE) == Ready(False, "Ask me anything")
    assert isinstance(ending(hinted), Failed)  # a pack that is made for it would know the hint


def test_who_reports_but_shows_nothing_known_is_ready_when_its_screen_rests() -> None:
    assert ending(look(UNKNOWN), manners=replace(KNOWN, screen_unknown=True)) == Ready(False)


@pytest.mark.lesson(41, "options are chosen by their words, and a dialog that nobody knows is a question at once")
def test_a_dialog_whose_question_never_rests_is_told_too() -> None:
    def ticks(at: float) -> StartLook:
        dialog = replace(TRUST, question=f"Trust it? ({at:.1f} s)")
        return look(asks(None, dialog), digest=str(at))

    [(at, action)] = begins(ticks)
    assert isinstance(action, Waits)
    assert at < 10
