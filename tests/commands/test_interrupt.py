"""`llmc interrupt` and `llmc restart` on the demo agent, in the middle of a turn and outside of one."""

from __future__ import annotations

import pytest

from llmc.model import Session, Turn, Work
from testing.story import Story, script

DEAF = """
[agents.deaf]
command = ["{python}", "-P", "-m", "llmc.demo", "--pace", "0.01"]
clear = "/clear"
pack = "demo"
events = true
interrupt = ["F5"]
"""


def hanging(story: Story, *names: str) -> None:
    for name in names:
        story.task(name, "hang")
        story.until(lambda name=name: "Working…" in story.screen(name))


@pytest.mark.lesson(8, "Escape only to refuse what a dialog asks")
def test_a_running_turn_is_ended_and_the_worker_waits(story: Story) -> None:
    story.begin("adam").up()
    assert story.json("interrupt", "adam")["outcome"] == "idle already"
    hanging(story, "adam")
    receipt = story.json("interrupt", "adam")
    assert (receipt["worker"], receipt["outcome"], receipt["proof"]) == ("adam", "interrupted", "screen")
    worker = story.worker("adam")
    assert (worker.work, worker.turn, worker.evidence.detail) == (Work.NEEDS_INPUT, Turn.OVER, "interrupted by you")
    before = story.screen("adam")
    assert story.json("interrupt", "adam")["outcome"] == "idle already"
    assert story.screen("adam") == before

    story.llmc("message", "adam", script("write a.txt x", "commit Done after all"))
    story.wait("adam", Work.NEEDS_REVIEW)


def test_several_are_interrupted_at_once_and_a_dialog_is_refused(story: Story) -> None:
    story.begin("adam", "baker", "carol").up()
    hanging(story, "adam")
    story.task("baker", "permit make all")
    story.wait("baker", Work.NEEDS_INPUT)
    came = {each["worker"]: each["outcome"] for each in story.json("interrupt", "--all")["workers"]}
    assert came == {"adam": "interrupted", "baker": "interrupted", "carol": "idle already"}
    assert "Do you want" not in story.screen("baker").splitlines()[-5:]
    assert story.worker("baker").evidence.signal == "interrupted"


def test_an_agent_that_does_not_stop_is_unknown_and_ended_by_force(story: Story) -> None:
    import sys

    story.begin("adam", agent="deaf", agents=DEAF.format(python=sys.executable)).up()
    hanging(story, "adam")
    pid = story.pane("adam").pid
    receipt = story.json("interrupt", "adam", "--within", "1", code=4)
    assert (receipt["outcome"], receipt["proof"]) == ("unknown", "none")
    assert story.worker("adam").work is Work.WORKING
    receipt = story.json("interrupt", "adam", "--within", "1", "--force")
    assert (receipt["outcome"], receipt["proof"]) == ("interrupted", "screen")
    worker = story.wait("adam", Work.NEEDS_INPUT, Session.UP)
    assert worker.turn is Turn.OVER
    assert story.pane("adam").pid != pid


# --- restart ------------------------------------------------------------------------------------------


def test_a_restart_in_the_middle_of_a_turn_wants_to_be_meant_and_names_what_is_lost(story: Story) -> None:
    story.begin("adam").up()
    hanging(story, "adam")
    assert story.json("message", "adam", "And then the tests, please")["outcome"] == "queued"
    pid = story.pane("adam").pid
    refused = story.llmc("restart", "adam", code=1)
    assert "adam is in the middle of a turn; nothing was changed" in refused.err
    assert "--yes" in refused.err
    assert story.pane("adam").pid == pid
    said = story.json("restart", "adam", "--yes")
    assert said["lost"] == ["And then the tests, please"]
    assert (story.worker("adam").turn, story.worker("adam").sent) == (Turn.OVER, ())
    assert story.pane("adam").pid != pid


def test_the_task_can_be_given_again_after_a_crash(story: Story) -> None:
    story.begin("adam", "baker").up()
    assert "no task" in story.llmc("restart", "baker", "--resend", code=1).err
    story.crash("adam", "crash 3")
    story.wait("adam", Work.WORKING, Session.CRASHED)
    story.rewrite("adam", current_prompt=script("write a.txt x", "commit Add a"))
    assert story.json("restart", "adam", "--resend")["resent"] == "delivered"
    story.wait("adam", Work.NEEDS_REVIEW)
