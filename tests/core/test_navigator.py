"""Walking through a dialog: only a mark that was seen on the option is confirmed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from llmc.core.dialogs.choosing import Goal, goal_for
from llmc.core.dialogs.dialog import Dialog, Option
from llmc.core.dialogs.navigator import DialogLook, DialogOutcome, Walk, advance

TRUST = Dialog("Do you trust it?", (Option("No, exit"), Option("Perhaps"), Option("Yes, I trust it")), marked=0)


@dataclass
class Screen:
    """A program that shows the dialog and takes keys, some of which get lost."""

    dialog: Dialog | None
    loses: int = 0
    wraps: bool = False
    pressed: list[str] = field(default_factory=list)
    taken: str = ""
    typed: str = ""
    takes_text_at_once: bool = True
    _opened: bool = False

    def press(self, key: str) -> None:
        self.pressed.append(key)
        if self.loses:
            self.loses -= 1
            return
        if self.dialog is None or self.dialog.marked is None:
            return
        step = {"Down": 1, "Right": 1, "Up": -1, "Left": -1}.get(key, 0)
        if key == "Enter" and not self.takes_text_at_once and not self._opened:
            self._opened = True
        elif key == "Enter":
            self.taken, self.dialog = self.dialog.options[self.dialog.marked].words, None
        elif key == "Escape":
            self.taken, self.dialog = "Escape", None
        elif step:
            count = len(self.dialog.options)
            at = self.dialog.marked + step
            self.dialog = replace(self.dialog, marked=at % count if self.wraps else min(max(at, 0), count - 1))

    def type(self, text: str) -> None:
        if self.takes_text_at_once or self._opened:
            self.typed += text
        elif any(character.isdecimal() for character in text):
            self.taken, self.dialog = "by a digit", None


def walk(screen: Screen, goal: Goal) -> DialogOutcome:
    state = Walk(goal)
    for at in range(10_000):
        shows = bool(state.typed) and state.typed in screen.typed
        state, action = advance(state, DialogLook(at * 0.05, screen.dialog, shows))
        if action.ending is not None:
            return action.ending
        if action.text:
            screen.type(action.text)
        if action.key:
            screen.press(action.key)
    raise AssertionError("no end")


@pytest.mark.lesson(41, "options are chosen by their words, and a dialog that nobody knows is a question at once")
@pytest.mark.parametrize("wraps", [False, True])
@pytest.mark.parametrize("loses", [0, 1, 3])
@pytest.mark.parametrize("marked", [0, 1, 2])
@pytest.mark.parametrize("choice", ["No, exit", "Perhaps", "yes"])
def test_the_mark_is_moved_to_the_option_and_then_confirmed(choice: str, marked: int, loses: int, wraps: bool) -> None:
    dialog = replace(TRUST, marked=marked)
    goal = goal_for(dialog, choice)
    assert goal.option is not None
    screen = Screen(dialog, loses, wraps)
    ending = walk(screen, goal)
    if ending is DialogOutcome.TAKEN:
        assert screen.taken == dialog.options[goal.option].words
    else:  # the very Enter got lost: nothing is pressed blindly again
        assert (ending, loses, screen.pressed.count("Enter")) == (DialogOutcome.STAYS, loses, 1)


def test_a_key_is_pressed_again_only_after_the_mark_has_not_moved() -> None:
    screen = Screen(TRUST)
    walk(screen, goal_for(TRUST, "yes"))
    assert screen.pressed == ["Down", "Down", "Enter"]


def test_side_by_side_the_mark_goes_left_and_right() -> None:
    dialog = replace(TRUST, across=True, marked=2)
    screen = Screen(dialog)
    assert walk(screen, goal_for(dialog, "1")) is DialogOutcome.TAKEN
    assert screen.pressed == ["Left", "Left", "Enter"]


def test_nothing_is_confirmed_without_a_mark() -> None:
    screen = Screen(replace(TRUST, marked=None))
    assert walk(screen, goal_for(TRUST, "yes")) is DialogOutcome.STUCK
    assert screen.pressed == []


def test_a_mark_that_never_moves_is_given_up() -> None:
    screen = Screen(TRUST, loses=1000)
    assert walk(screen, goal_for(TRUST, "yes")) is DialogOutcome.STUCK
    assert "Enter" not in screen.pressed


@dataclass
class Slow(Screen):
    """A program that takes each key so many looks after it was pressed."""

    late: int = 25
    waiting: list[tuple[int, str]] = field(default_factory=list)

    def look(self, at: int) -> bool:
        while self.waiting and self.waiting[0][0] <= at:
            super().press(self.waiting.pop(0)[1])
        return bool(self.waiting)


@pytest.mark.lesson(41, "options are chosen by their words, and a dialog that nobody knows is a question at once")
@pytest.mark.parametrize("choice", ["No, exit", "Perhaps", "yes"])
def test_no_key_is_pressed_behind_one_that_was_not_read(choice: str) -> None:
    """A second Down behind the first would move the mark on, and the Enter would take what nobody wanted."""
    dialog = replace(TRUST, marked=1)
    goal = goal_for(dialog, choice)
    screen, state, ending = Slow(dialog), Walk(goal), None
    for at in range(2_000):
        unread = screen.look(at)
        state, action = advance(state, DialogLook(at * 0.05, screen.dialog, unread=unread))
        if action.ending is not None:
            ending = action.ending
            break
        if action.key:
            assert not unread
            screen.waiting.append((at + screen.late, action.key))
    assert goal.option is not None
    assert (ending, screen.taken) == (DialogOutcome.TAKEN, dialog.options[goal.option].words)


def test_a_program_that_reads_nothing_is_given_up() -> None:
    state, endings = Walk(goal_for(TRUST, "yes")), []
    for at in range(2_000):
        state, action = advance(state, DialogLook(at * 0.05, TRUST, unread=at > 0))
        endings += [action.ending] if action.ending else []
    assert set(endings) == {DialogOutcome.STUCK}


@pytest.mark.lesson(53, "an answer to a dialog that has changed meanwhile is refused")
def test_another_dialog_gets_no_key() -> None:
    other = Dialog("Delete everything?", (Option("No"), Option("Yes, I trust it")), marked=1)
    screen = Screen(other)
    assert walk(screen, goal_for(TRUST, "yes")) is DialogOutcome.CHANGED
    assert screen.pressed == []


def test_a_dialog_that_is_gone_gets_no_key() -> None:
    screen = Screen(None)
    assert walk(screen, goal_for(TRUST, "yes")) is DialogOutcome.CHANGED
    assert screen.pressed == []


def test_a_refusal_by_key_needs_no_mark() -> None:
    screen = Screen(TRUST)
    assert walk(screen, Goal(TRUST, key="Escape")) is DialogOutcome.TAKEN
    assert (screen.pressed, screen.taken) == (["Escape"], "Escape")


@pytest.mark.parametrize("text", ["the other one", "Use 2 of them", "2 of them"])
@pytest.mark.parametrize("at_once", [True, False])
def test_a_text_is_seen_at_its_option_before_it_is_submitted(at_once: bool, text: str) -> None:
    dialog = Dialog("Which?", (Option("This"), Option("Type something.")), marked=0)
    screen = Screen(dialog, takes_text_at_once=at_once)
    assert walk(screen, goal_for(dialog, text)) is DialogOutcome.TAKEN
    assert screen.typed == text
    assert screen.taken == "Type something."


CODEX = Dialog(
    "Run it?",
    (Option("Yes, proceed (y)", 1), Option("No, and tell Codex what to do differently (esc)", 2)),
    marked=0,
)


@dataclass
class Shortcuts(Screen):
    """Every letter takes the option that names it; an Enter at the refusal leads back to the input line."""

    def type(self, text: str) -> None:
        if self.dialog is not None and "y" in text:
            self.taken, self.dialog = "Yes, proceed (y)", None
        self.typed += text


def test_a_text_never_takes_an_option_by_a_letter_in_it() -> None:
    screen = Shortcuts(CODEX)
    assert walk(screen, goal_for(CODEX, "try another way")) is DialogOutcome.TAKEN
    assert (screen.taken, screen.typed) == (CODEX.options[1].words, "try another way")


@dataclass
class Replaced(Screen):
    """Another dialog comes with the first letter, or with the first Enter."""

    other: Dialog = field(default_factory=lambda: Dialog("Delete it all?", (Option("Yes"), Option("No")), marked=0))

    def type(self, text: str) -> None:
        self.dialog = self.other

    def press(self, key: str) -> None:
        super().press(key)
        if key == "Enter":
            self.dialog = self.other


@pytest.mark.lesson(53, "an answer to a dialog that has changed meanwhile is refused")
@pytest.mark.parametrize(("text", "pressed"), [("the other one", ["Down"]), ("2 of them", ["Down", "Enter"])])
def test_a_text_is_no_answer_to_the_dialog_that_came_instead(text: str, pressed: list[str]) -> None:
    dialog = Dialog("Which?", (Option("This"), Option("Type something.")), marked=0)
    screen = Replaced(dialog)
    assert walk(screen, goal_for(dialog, text)) is DialogOutcome.LOST
    assert (screen.pressed, screen.typed) == (pressed, "")
