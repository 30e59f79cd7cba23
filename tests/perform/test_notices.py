"""The person is told: in the log always, by the bell where it is wanted and heard."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import TextIO

import pytest

from llmc.core.lifecycle.effects import Notify
from llmc.core.lifecycle.table import Decision
from llmc.perform.notices import ERRANDS, tell
from testing.story import Story, told_in


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    with told_in(tmp_path) as story:
        yield story.begin("adam")


@pytest.fixture
def terminal() -> Iterator[tuple[int, TextIO]]:
    """A real terminal: the end of the person, and the end of the program."""
    ours, theirs = os.openpty()
    os.set_blocking(ours, False)
    with open(theirs, "w", encoding="utf-8") as stream:
        yield ours, stream
    os.close(ours)


def rings(story: Story, terminal: tuple[int, TextIO], kind: str) -> bool:
    person, stream = terminal
    worker = story.worker("adam")
    with redirect_stderr(stream):
        tell(story.site, Decision(worker, worker, "test", notices=(Notify(kind, "something happened"),)))
        ERRANDS.finish(20.0)
    try:
        return os.read(person, 100) == b"\a"
    except BlockingIOError:
        return False


def test_work_to_review_rings_the_bell_unless_it_is_to_be_silent(story: Story, terminal: tuple[int, TextIO]) -> None:
    assert rings(story, terminal, "needs_review")
    story.llmc("config", "set", "defaults.sound_on_review", "false")
    assert not rings(story, terminal, "needs_review")
    assert rings(story, terminal, "needs_input"), "that is another matter"
    assert not rings(story, terminal, "back"), "nothing is asked of the person"
    story.llmc("config", "set", "notify.bell", "false")
    assert not rings(story, terminal, "needs_input")
    assert [event.detail for event in story.events("adam", "notice")] == ["something happened"] * 5


def test_a_notice_that_nobody_hears_is_still_in_the_log(story: Story) -> None:
    worker = story.worker("adam")
    tell(story.site, Decision(worker, worker, "test", notices=(Notify("needs_review", "look"),)))
    assert [event.detail for event in story.events("adam", "notice")] == ["look"]
