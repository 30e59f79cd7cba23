"""A program that wanted to know about the focus has ended: whoever comes or goes, the server and all others live on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from llmc.host.processes import remind_of_children
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux
from testing.attached import Person
from testing.terminals import SIZE
from testing.waiting import wait_until

PLAIN, FULL_SCREEN = "", "\\033[?1049h"
LAST = "its last words"
SCREENS = pytest.mark.parametrize("screen", [PLAIN, FULL_SCREEN], ids=["plain", "full screen"])


@pytest.fixture
def tmux(private_tmux: Tmux) -> Tmux:
    private_tmux.new_session("other", "/", ["sleep", "600"], {}, SIZE)
    return private_tmux


def program(tmux: Tmux, screen: str) -> Pane:
    # Below the top: for its own words tmux moves the screen up, and off a full screen.
    script = f"printf '{screen}\\033[?1004h\\n{LAST}\\n'; exec sleep 600"
    pane = tmux.new_session("adam", "/", ["sh", "-c", script], {}, SIZE)
    wait_until(lambda: LAST in tmux.capture(pane.id))
    return pane


def attached(tmux: Tmux, session: str) -> Person:
    person = Person(tmux.attach_command(session, "Ctrl-b d leaves"), os.environ)
    wait_until(lambda: tmux.panes()[session].attached)
    return person


def end(tmux: Tmux, pane: Pane) -> None:
    """Nobody waits until tmux has learned how it ended, which may take long."""
    os.kill(pane.pid, signal.SIGKILL)
    wait_until(lambda: tmux.panes()["adam"].dead)


def close_window(tmux: Tmux, person: Person) -> None:
    """Of this tmux learns by itself: what has to come first has come once it knows how the program ended."""

    def known() -> bool:
        remind_of_children(tmux.panes()["adam"].server_pid)
        return tmux.panes()["adam"].rows_kept is not None

    wait_until(known)


def kill_session(tmux: Tmux, person: Person) -> None:
    tmux.kill_session("adam")
    wait_until(lambda: "adam" not in tmux.panes())


LEAVING = {
    "detaches": lambda tmux, person: person.leaves(),
    "session ends": kill_session,
    "window closed": close_window,
}


@SCREENS
@pytest.mark.lesson(34, "a tmux server of our own, and exact names on it")
@pytest.mark.parametrize("leave", LEAVING.values(), ids=LEAVING)
def test_somebody_is_there_when_it_ends(tmux: Tmux, screen: str, leave: Callable[[Tmux, Person], None]) -> None:
    pane = program(tmux, screen)
    with attached(tmux, "adam") as person:
        end(tmux, pane)
        leave(tmux, person)
    assert not tmux.panes()["other"].dead


@SCREENS
def test_somebody_comes_when_it_has_ended(tmux: Tmux, screen: str) -> None:
    pane = program(tmux, screen)
    end(tmux, pane)
    with attached(tmux, "adam") as person:
        person.leaves()
    with tmux.talking("adam") as talking:
        assert LAST in talking.capture(pane.id)
    assert not tmux.panes()["other"].dead


@SCREENS
def test_what_it_showed_can_be_read_whatever_happened_since(tmux: Tmux, screen: str) -> None:
    pane = program(tmux, screen)
    end(tmux, pane)
    assert LAST in tmux.capture(pane.id)
    with attached(tmux, "adam"):
        assert LAST in tmux.capture(pane.id)
        assert LAST in tmux.look(pane.id)[1]
        assert LAST in tmux.capture(pane.id, history=100)


def test_the_next_one_in_the_session_begins_with_a_screen_of_its_own(tmux: Tmux) -> None:
    end(tmux, program(tmux, PLAIN))
    tmux.kill_session("adam")
    pane = tmux.new_session("adam", "/", ["sh", "-c", "echo new; exec sleep 600"], {}, SIZE)
    wait_until(lambda: "new" in tmux.capture(pane.id))
    assert LAST not in tmux.capture(pane.id, history=100)


def test_nobody_is_asked_for_the_focus_of_their_own_terminal(tmux: Tmux) -> None:
    assert tmux.run("show-options", "-g", "-v", "focus-events").text.strip() == "off"
