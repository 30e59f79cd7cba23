"""Budgets on the demo agent: told at 80 %, stopped at the limit with proof, gone on with when a person says so."""

from __future__ import annotations

from llmc.model import Turn, Work
from testing.story import Story


def test_a_task_that_has_spent_its_tokens_is_stopped_within_its_turn_and_goes_on_when_released(story: Story) -> None:
    story.begin("adam", budget__task_tokens="1000").up()
    story.task("adam", "spend 700 150", "sleep 0.5", "spend 100 100 100 100", "sleep 600", "write a.txt 1", "commit A")
    worker = story.wait("adam", Work.NEEDS_INPUT)
    assert (worker.turn, worker.evidence.signal) == (Turn.OVER, "budget")
    assert worker.evidence.detail == "the budget of t1 is spent: 1,250 of 1,000 tokens"
    said = [each for each in story.json("events", "adam") if "nearly spent" in (each.get("detail") or "")]
    assert len(said) == 1, said
    assert story.llmc("status").out
    assert story.llmc("usage").out
    assert story.llmc("task", "show", "t1").out
    assert story.llmc("explain", "adam").out
    assert story.json("task", "release", "t1")
    worker = story.wait("adam", Work.NEEDS_REVIEW)
