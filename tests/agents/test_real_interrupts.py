"""Turns of the real CLIs that somebody ends: by a key in the terminal, or by `llmc interrupt`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testing.models.steps import Text
from testing.real_agents import AgentMachine, AgentRoot, agents, make_agent_root
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import real_agent as real_agent
from testing.waiting import wait_until

PATIENCE_SECS = 150.0
WORDS = "I read the parser first, because every caller goes through it. "
MORE = "Then I looked at the tests, at the docs, and at what others have said about both of them before. "
LONG = "I read every caller.\n\n" + "\n\n".join(f"{WORDS}{MORE}This was step {number}." for number in range(1, 9))
ESCAPE = "\x1b"
DRAFT = "half a dra"

pytestmark = [pytest.mark.hazard, pytest.mark.timeout(300)]


@pytest.fixture
def root(agent_machine: AgentMachine, tmp_path: Path) -> AgentRoot:
    """Its agent is in the middle of a long answer."""
    made = make_agent_root(agent_machine, tmp_path, accepted=True)
    made.models.answer_with([Text(LONG, 120.0)])
    made.done("start", "--worker", "w", "--prompt", "Tell me all about it.")
    wait_until(lambda: made.status()["turn"] == "open", timeout=PATIENCE_SECS)
    wait_until(lambda: "caller" in made.tmux.capture(made.pane().id), timeout=PATIENCE_SECS)
    return made


@pytest.mark.lesson(43, "an interrupt that nobody reports is a fact: the screen that says so ends the turn")
def test_escape_in_the_terminal_is_told_within_seconds(root: AgentRoot) -> None:
    with root.person(columns=120, rows=40) as person:
        person.types(ESCAPE)
        if root.machine.agent.name == "opencode":  # it asks for the key once more
            wait_until(lambda: "again to interrupt" in root.tmux.capture(root.pane().id), timeout=PATIENCE_SECS)
            person.types(ESCAPE)
        wait_until(lambda: root.status()["evidence"]["signal"] == "interrupted", timeout=PATIENCE_SECS)
    worker = root.status()
    assert (worker["work"], worker["turn"]) == ("needs_input", "over")
    assert "interrupted" in worker["evidence"]["detail"]
    assert worker["attention"]["state"] == "READY"
    root.models.answer_with([Text("Shorter now.")])
    root.message("Say it in three words.")
    wait_until(lambda: root.status()["evidence"]["signal"] == "hook.turn_end", timeout=PATIENCE_SECS)


def test_a_turn_is_interrupted_by_command_and_the_draft_stays(root: AgentRoot) -> None:
    root.tmux.type_text(root.pane().id, DRAFT)
    wait_until(lambda: root.reading().composer == DRAFT, timeout=PATIENCE_SECS)
    answer = root.llmc("interrupt", "w", "--within", "60", "--json")
    receipt = json.loads(answer.text)
    assert (answer.code, receipt["outcome"]) == (0, "interrupted"), receipt
    assert receipt["proof"] in ("hook", "screen")
    assert root.reading().composer == DRAFT
    worker = root.status()
    assert (worker["work"], worker["turn"]) == ("needs_input", "over")
    assert worker["evidence"]["detail"] == "interrupted by you"
    assert json.loads(root.done("interrupt", "w", "--json"))["outcome"] == "idle already"
    assert root.reading().composer == DRAFT


@agents("claude")
def test_a_text_for_a_busy_claude_is_queued(root: AgentRoot) -> None:
    """It reports the prompt at once, when it puts it aside."""
    receipt = root.message("And then the tests, please.")
    assert (receipt["outcome"], receipt["proof"]) == ("queued", "hook"), receipt
