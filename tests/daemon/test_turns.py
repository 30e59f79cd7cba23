"""The end of a turn as the daemon learns of it: by somebody's key, by a report, by a screen alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.model import Turn, Work
from testing.story import SILENT, Story, script, told_in


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    with told_in(tmp_path) as story:
        yield story


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


def test_a_dialog_of_an_agent_that_reports_nothing_moves_its_work(story: Story) -> None:
    story.begin("adam", agent="silent", agents=SILENT).up()
    working(story, "adam", "sleep 2", "permit rm -r build")
    worker = story.wait("adam", Work.NEEDS_INPUT)
    assert "dialog" in worker.evidence.detail
