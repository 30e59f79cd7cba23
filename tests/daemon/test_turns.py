"""The end of a turn as the daemon learns of it: by somebody's key, by a report, by a screen alone."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import ioctl
from struct import pack
from termios import TIOCSWINSZ

import pytest

from llmc.model import Session, Turn, Work
from testing.story import LLMC, SILENT, Story, script


def working(story: Story, name: str, *steps: str) -> None:
    story.task(name, *steps)
    story.until(lambda: "Working…" in story.screen(name))


# --- interrupted ------------------------------------------------------------------------------------


@pytest.mark.lesson(43, "an interrupt that nobody reports is a fact: the screen that says so ends the turn")
@pytest.mark.parametrize("key", ["Escape", "C-c"])
def test_a_key_in_the_terminal_that_ends_the_turn_is_noticed(story: Story, key: str) -> None:
    story.begin("adam").up()
    working(story, "adam", "hang")
    story.until(lambda: story.worker("adam").turn is Turn.OPEN)
    story.press("adam", key)
    worker = story.wait("adam", Work.NEEDS_INPUT)
    assert (worker.turn, worker.evidence.signal) == (Turn.OVER, "interrupted")
    assert "interrupted" in worker.evidence.detail
    assert "interrupted" in story.llmc("status").out
    attention = story.json("status")["workers"][0]["attention"]
    assert (attention["state"], attention["detail"]) == ("READY", "interrupted")

    story.llmc("message", "adam", script("write a.txt x", "commit Done after all"))
    assert story.wait("adam", Work.NEEDS_REVIEW).turn is Turn.OVER


def test_a_dialog_that_is_refused_by_escape_ends_the_turn(story: Story) -> None:
    story.begin("adam").up()
    story.task("adam", "permit rm -r build")
    asked = story.wait("adam", Work.NEEDS_INPUT)
    assert "asks for permission" in asked.evidence.detail
    story.press("adam", "Escape")
    story.until(lambda: story.worker("adam").evidence.signal == "interrupted")
    assert (story.worker("adam").work, story.worker("adam").turn) == (Work.NEEDS_INPUT, Turn.OVER)


def test_an_interrupt_of_an_agent_that_reports_nothing_is_noticed(story: Story) -> None:
    story.begin("adam", agent="silent", agents=SILENT).up()
    working(story, "adam", "hang")
    story.press("adam", "Escape")
    assert story.wait("adam", Work.NEEDS_INPUT).evidence.signal == "interrupted"


# --- agents that report nothing -----------------------------------------------------------------------


def test_the_screen_of_an_agent_that_reports_nothing_moves_its_work(story: Story) -> None:
    """Under `manual`, too: there is no other witness."""
    story.begin("adam", agent="silent", agents=SILENT).up()
    working(story, "adam", "sleep 2", "say I could not do it.")
    worker = story.wait("adam", Work.NEEDS_INPUT)
    assert worker.evidence.signal == "screen"
    assert worker.evidence.detail == "stopped without a commit: I could not do it."


def test_a_dialog_of_an_agent_that_reports_nothing_moves_its_work(story: Story) -> None:
    story.begin("adam", agent="silent", agents=SILENT).up()
    working(story, "adam", "sleep 2", "permit rm -r build")
    worker = story.wait("adam", Work.NEEDS_INPUT)
    assert worker.evidence.detail.startswith("asks: ")


# --- Ctrl-C in the foreground -------------------------------------------------------------------------


@contextmanager
def foreground(story: Story) -> Iterator[tuple[subprocess.Popen[bytes], int, list[bytes]]]:
    """`llmc up` in a terminal: the process, its keyboard, and what it has shown."""
    keyboard, terminal = pty.openpty()
    ioctl(terminal, TIOCSWINSZ, pack("HHHH", 40, 160, 0, 0))
    argv = [*LLMC, "--root", story.root.path, "up"]
    process = subprocess.Popen(argv, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    shown: list[bytes] = []

    def read() -> None:
        with suppress(OSError):
            while data := os.read(keyboard, 65536):
                shown.append(data)

    threading.Thread(target=read, daemon=True).start()
    try:
        yield process, keyboard, shown
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("answer", [b"y\n", None])
def test_an_interrupt_of_the_foreground_asks_in_the_middle_of_a_turn(story: Story, answer: bytes | None) -> None:
    story.begin("adam")
    with foreground(story) as (process, keyboard, shown):

        def said(words: str) -> bool:
            return words.encode() in b"".join(shown)

        story.wait("adam", session=Session.UP)
        working(story, "adam", "hang")
        story.until(lambda: story.worker("adam").turn is Turn.OPEN)
        process.send_signal(signal.SIGINT)
        story.until(lambda: said("adam is in the middle of a turn. Stop all the same?"))
        os.write(keyboard, b"n\n")
        shown.clear()
        story.until(lambda: said("Ctrl-C stops the agents and leaves"))
        assert story.worker("adam").session is Session.UP
        shown.clear()
        process.send_signal(signal.SIGINT)
        story.until(lambda: said("Stop all the same?"))
        if answer is None:
            process.send_signal(signal.SIGINT)
        else:
            os.write(keyboard, answer)
        story.until(lambda: said("stopping adam"))
        story.until(lambda: process.poll() is not None)
        story.until(lambda: said("the agents were stopped"))
    assert story.worker("adam").session is Session.DOWN
