"""A dialog that a rule covers is answered unasked; every other one waits for the person."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llmc.model import Work
from testing.story import SILENT, Story

RULE = """
[[policy.auto_confirm]]
agent = "{}"
kind = "permission"
pattern = "rm -r (build|dist)"
"""


def _answers(story: Story) -> list[str]:
    return [event.detail for event in story.site.ledger.events.recent("adam") if event.kind == "auto_confirm"]


@pytest.mark.parametrize("agent", ["demo", "silent"])
def test_what_a_rule_covers_is_answered_and_told(story: Story, agent: str) -> None:
    story.begin("adam", agent=agent, agents=SILENT + RULE.format(agent)).up()
    story.work("adam", "sleep 0.5", "permit rm -r build", "write a.txt done", "commit Remove the build")
    answers = _answers(story)
    assert answers == ["yes to permission: rm -r build (rule rm -r (build|dist))"]
    logged = story.site.ledger.events.latest("adam", "auto_confirm")
    assert logged is not None
    assert "Do you want to run this command?" in str(logged.data["dialog"])
    assert answers[0] in story.llmc("events", "adam").out
    assert f"ago: {answers[0]}" in story.llmc("explain", "adam").out


@pytest.mark.parametrize(
    "steps",
    [
        ("permit rm -r build; rm -r src",),
        ("permit rm -r src",),
        ("ask May I rm -r build?",),
        ("say rm -r build", "permit rm -r src"),
    ],
    ids=["two commands", "another command", "a question", "a quote"],
)
def test_every_other_dialog_waits_for_the_person(story: Story, steps: tuple[str, ...]) -> None:
    story.begin("adam", agents=RULE.format("demo")).up()
    story.task("adam", *steps)
    story.wait("adam", Work.NEEDS_INPUT)
    story.until(lambda: "not answered unasked: no rule" in story.llmc("explain", "adam").out)
    story.until(lambda: _looked_at(story))
    assert _answers(story) == []
    story.llmc("answer", "adam", "no")


def _looked_at(story: Story) -> bool:
    """For long enough to be acted upon."""
    seen = json.loads(Path(story.root.terminals, "adam", "status.json").read_text())["screen"]
    return (seen["state"], seen["lasting"]) == ("NEEDS_CONFIRMATION", True)
