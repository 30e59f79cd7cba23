"""Agents that are described by their command alone, and draw a framed input line: nobody has told how they look."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from llmc.model import Work
from testing.story import Story, script

SIGNS = "> quoted\n# a heading\n$ make test\n```diff\n-old\n+new\n```\n❯ 1. Yes\nthe end"


def up(story: Story, *options: str, events: bool = False) -> Story:
    words = [sys.executable, "-P", "-m", "llmc.demo", "--pace", "0.01", *options]
    command = ", ".join(f'"{word}"' for word in words)
    table = f'\n[agents.strange]\ncommand = [{command}]\nclear = "/clear"\nevents = {str(events).lower()}\n'
    story.begin("adam", agent="strange", agents=table, policy__commit_grace_secs="1")
    story.up()
    return story


@pytest.mark.parametrize("events", [False, True], ids=["silent", "reporting"])
def test_a_framed_input_line_is_found_without_a_pack(story: Story, events: bool) -> None:
    up(story, *([] if events else ["--no-events"]), events=events)
    assert story.json("status")["workers"][0]["status"] == "idle"
    receipt = story.json("message", "adam", SIGNS)
    assert (receipt["outcome"], receipt["attempts"]) == ("delivered", 1)
    assert story.json("message", "adam", "and this")["outcome"] == "delivered"


def test_from_a_task_to_its_commit_without_a_pack_and_without_reports(story: Story) -> None:
    up(story, "--no-events")
    story.task("adam", "write a.txt one", "commit Add a")
    story.wait("adam", Work.NEEDS_REVIEW)
    story.llmc("accept", "adam")
    assert story.subjects()[-1] == "Add a"


@pytest.mark.lesson(41, "options are chosen by their words, and a dialog that nobody knows is a question at once")
def test_no_refuses_although_the_mark_is_on_yes(story: Story) -> None:
    up(story, "--no-events")
    story.spawn("message", "adam", script("permit touch made", "say done"))
    story.until(lambda: "Do you want to run this command?" in story.screen("adam"))
    story.until(lambda: story.json("status")["workers"][0]["asked"])
    receipt = story.json("answer", "adam", "no")
    assert receipt["outcome"] == "delivered"
    story.until(lambda: "Do you want to run this command?" not in story.screen("adam"))
    assert not Path(story.worker("adam").worktree_path, "made").exists()
