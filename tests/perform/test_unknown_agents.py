"""Agents of which nobody has told how they look: plain programs that read lines, and what they report."""

from __future__ import annotations

import pytest

from llmc.model import Work
from testing.line_reader import agent_table
from testing.story import Story

WITH_PROMPT = ("--prompt", "> ")
TEXT = "one\ntwo, with a > in it\n\n  three\nthe last line"


def kept(story: Story) -> str:
    """All that the program was ever sent."""
    return (story.place / "kept").read_text()


def up(story: Story, *options: str, events: bool = True, agent: str = "reader") -> Story:
    story.begin("adam", agent=agent, agents=agent_table(agent, story.place / "kept", *options, events=events))
    story.up()
    return story


def outcome(story: Story, text: str) -> tuple[str, str, int]:
    receipt = story.json("message", "adam", text)
    return receipt["outcome"], receipt["proof"], receipt["attempts"]


@pytest.mark.parametrize("prompt", [(), WITH_PROMPT], ids=["no input line", "an input line"])
def test_one_that_reports_is_up_and_gets_each_text_once(story: Story, prompt: tuple[str, ...]) -> None:
    up(story, *prompt)
    assert outcome(story, "a word") == ("delivered", "hook", 1)
    assert outcome(story, TEXT) == ("delivered", "hook", 1)
    assert outcome(story, "and it > ends\n") == ("delivered", "hook", 1)
    assert outcome(story, "a word") == ("delivered", "hook", 1)
    assert kept(story).replace("\n\n", "\n") == f"a word\n{TEXT}\nand it > ends\na word\n".replace("\n\n", "\n")


def test_prompts_one_after_the_other_are_no_draft(story: Story) -> None:
    """It was too busy to read: the terminal has shown the lines by the time that it prompts for them."""
    now = story.place / "now"
    up(story, *WITH_PROMPT, "--after", str(now))
    story.press("adam", "one", "Enter", "two", "Enter", "three", "Enter")
    story.until(lambda: "three" in story.screen("adam"))
    now.touch()
    story.until(lambda: "> > >" in story.screen("adam"))
    assert outcome(story, "a word") == ("delivered", "hook", 1)
    assert kept(story) == "one\ntwo\nthree\na word\n"


def test_one_that_reports_nothing_shows_it_by_its_echo(story: Story) -> None:
    up(story, *WITH_PROMPT, "--silent", events=False)
    assert outcome(story, "a word") == ("delivered", "composer", 1)
    assert outcome(story, TEXT) == ("delivered", "composer", 1)
    assert kept(story) == f"a word\n{TEXT}\n"


@pytest.mark.parametrize("agent", ["reader", "claude"], ids=["a new name", "in the place of a known one"])
@pytest.mark.parametrize("prompt", [(), WITH_PROMPT], ids=["no input line", "an input line"])
def test_from_a_task_to_a_commit(story: Story, prompt: tuple[str, ...], agent: str) -> None:
    up(story, *prompt, agent=agent)
    assert story.json("start", "--worker", "adam", "--prompt", "commit Add made")["outcome"] == "delivered"
    story.wait("adam", Work.NEEDS_REVIEW)
    story.llmc("accept", "adam")
    assert (story.repository / "made.txt").read_text() == "Add made"


@pytest.mark.lesson(11, "copy mode is left first, and a dialog gets neither text nor Enter")
def test_what_it_reports_to_ask_takes_no_text_and_can_be_answered(story: Story) -> None:
    up(story)
    story.llmc("message", "adam", "permit rm -r build")
    story.until(lambda: "may I" in story.screen("adam"))
    before = kept(story)
    assert "a dialog is open" in story.json("message", "adam", "and this", code=1)["reason"]
    assert kept(story) == before
    receipt = story.json("answer", "adam", "yes")
    assert (receipt["outcome"], receipt["proof"]) == ("delivered", "hook")
    assert kept(story) == f"{before}yes\n"


def test_the_same_words_may_be_said_any_number_of_times(story: Story) -> None:
    up(story)
    for _ in range(23):
        assert outcome(story, "go on") == ("delivered", "hook", 1)
    assert kept(story) == "go on\n" * 23
