"""A dialog that no pack knows, in front of an agent: told at once, answered by its words; then the agent is idle."""

from __future__ import annotations

import sys

import pytest

import testing.asks_first
from llmc.model import Session
from testing.story import Story

ASKS_FIRST = testing.asks_first.__file__


def up(story: Story, form: str) -> Story:
    """A worker whose agent shows such a dialog first."""
    demo = [sys.executable, "-P", "-m", "llmc.demo", "--pace", "0.01"]
    words = ", ".join(
        f'"{word}"' for word in [sys.executable, ASKS_FIRST, form, str(story.place / "keys"), "--", *demo]
    )
    table = f'\n[agents.strange]\ncommand = [{words}]\npack = "demo"\nevents = true\nclear = "/clear"\n'
    story.begin("adam", agent="strange", agents=table)
    story.up()
    return story


def keys(story: Story) -> list[str]:
    log = story.place / "keys"
    return log.read_text().splitlines() if log.exists() else []


def shown(story: Story) -> dict[str, object]:
    worker: dict[str, object] = story.json("status")["workers"][0]
    return worker


@pytest.mark.lesson(41, "options are chosen by their words, and a dialog that nobody knows is a question at once")
@pytest.mark.parametrize("form", ["plain", "numbered", "across", "letters"])
def test_it_is_told_with_its_options_and_answered(story: Story, form: str) -> None:
    up(story, form)
    assert keys(story) == []
    worker = story.worker("adam")
    assert (worker.session, worker.status) == (Session.STARTING, "needs_input")
    story.until(lambda: shown(story)["asked"] and shown(story)["asked"]["id"])  # type: ignore[index]
    told = shown(story)
    asked = told["asked"]
    assert isinstance(asked, dict)
    assert told["status"] == "needs_input"
    assert "Do you want to go on all the same?" in asked["text"]
    assert {"Yes, go ahead", "No, leave"} <= set(asked["options"])
    assert any("Do you want to go on" in event.detail for event in story.events("adam", "notice"))
    said = story.llmc("answer", "adam", "yes", "--dialog", asked["id"])
    assert "delivered" in said.out
    assert "adam: idle" in said.out
    story.wait("adam", session=Session.UP)
    story.until(lambda: shown(story)["asked"] is None)
    assert story.json("message", "adam", "hello")["outcome"] == "delivered"


@pytest.mark.lesson(41, "options are chosen by their words, and a dialog that nobody knows is a question at once")
def test_up_returns_with_what_stands_open(story: Story) -> None:
    up(story, "plain")
    story.llmc("down", "--yes")
    said = story.llmc("up", "--detach")
    assert "adam: needs_input: asks: The moon is full tonight. Do you want to go on all the same?" in said.out
    assert "llmc answer adam" in said.out
    assert "ready for a task" not in story.llmc("status").out
    assert "Do you want to go on all the same?" in story.llmc("status").out
    refused = story.llmc("start", "--worker", "adam", "--prompt", "Do it", code=1)
    assert "asks something before it takes a prompt" in refused.err


@pytest.mark.lesson(53, "an answer to a dialog that has changed meanwhile is refused")
def test_an_answer_that_does_not_fit_presses_nothing(story: Story) -> None:
    up(story, "plain")
    for words in (("4",), ("perhaps",), ("yes", "--dialog", "00000000")):
        refused = story.llmc("answer", "adam", *words, code=1)
        assert refused.err.startswith("error: ")
    assert keys(story) == []
    story.llmc("answer", "adam", "No, leave")
    story.until(lambda: story.worker("adam").session is Session.CRASHED)
    assert "exit code 3" in story.worker("adam").evidence.detail
    assert keys(story) == ["b'\\r'"]


def test_without_a_daemon_the_answer_goes_on_with_the_start(story: Story) -> None:
    up(story, "plain")
    story.llmc("down", "--yes")
    refused = story.llmc("restart", "adam", code=1)
    assert "Do you want to go on all the same?" in refused.err
    assert "adam: idle" in story.llmc("answer", "adam", "yes").out
    assert story.worker("adam").session is Session.UP
