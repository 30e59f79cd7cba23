"""Turns of the real CLIs that somebody ends: by a key in the terminal, under the usual autonomy."""

from __future__ import annotations

from pathlib import Path

import pytest

from testing.models.steps import Text
from testing.real_agents import AgentMachine, AgentRoot, make_agent_root
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import real_agent as real_agent
from testing.waiting import wait_until

PATIENCE_SECS = 90.0
WORDS = "I read the parser first, because every caller goes through it, and then I looked at the tests and the docs. "
ESCAPE = "\x1b"

pytestmark = [pytest.mark.hazard, pytest.mark.timeout(300)]


@pytest.fixture
def root(agent_machine: AgentMachine, tmp_path: Path) -> AgentRoot:
    """Its agent is in the middle of a long answer."""
    made = make_agent_root(agent_machine, tmp_path, accepted=True)
    made.models.answer_with([Text(WORDS * 3, 60.0)])
    made.done("start", "--worker", "w", "--prompt", "Tell me all about it.")
    wait_until(lambda: made.status()["turn"] == "open", timeout=PATIENCE_SECS)
    wait_until(lambda: "parser" in made.done("peek", "w"), timeout=PATIENCE_SECS)
    return made


@pytest.mark.lesson(43, "an interrupt that nobody reports is a fact: the screen that says so ends the turn")
def test_escape_in_the_terminal_is_told_within_seconds(root: AgentRoot) -> None:
    with root.person() as person:
        person.types(ESCAPE)
        if root.machine.agent.name == "opencode":  # it asks for the key once more
            wait_until(lambda: "again to interrupt" in root.done("peek", "w"), timeout=PATIENCE_SECS)
            person.types(ESCAPE)
        wait_until(lambda: root.status()["work"] == "needs_input", timeout=PATIENCE_SECS)
        wait_until(lambda: "interrupted" in root.status()["evidence"]["detail"], timeout=PATIENCE_SECS)
    worker = root.status()
    assert (worker["evidence"]["signal"], worker["turn"]) == ("interrupted", "over")
    assert worker["attention"]["state"] == "READY"
    root.models.answer_with([Text("Shorter now.")])
    root.message("Say it in three words.")
    wait_until(lambda: root.status()["evidence"]["signal"] == "hook.turn_end", timeout=PATIENCE_SECS)
