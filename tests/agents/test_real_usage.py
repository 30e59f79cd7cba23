"""Usage and budgets on the real CLIs: exact to the token, and kept within one turn."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from testing.models.steps import Commit, Run, Step, Text, Use
from testing.models.tokens import Bill, each_its_own
from testing.real_agents import AgentRoot, agents
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import agent_root as agent_root
from testing.real_agents import real_agent as real_agent
from testing.waiting import wait_until

PATIENCE_SECS = 150.0
TELL_AFTER_TOOLS = ("codex", "opencode")
"""They write down what an answer has cost when the tools that it asked for have run."""
WAITS = "until test -e never; do sleep 0.2; done"
"""Claude Code refuses a bare `sleep` that takes long, and says so to its model at once."""


@pytest.mark.lesson(58, "supervision costs no tokens, and budgets are kept by code")
@pytest.mark.timeout(300)
@agents("claude")
def test_a_budget_of_tokens_stops_it_within_one_turn(agent_root: AgentRoot) -> None:
    """Each answer takes some 21,000 tokens: the second one is the first that is above the budget, and the last."""
    agent_root.models.charge(each_its_own)
    agent_root.models.answer_with([Run("echo one"), Run(WAITS), Text("Never said.")])
    agent_root.done("config", "set", "budget.task_tokens", "40000")
    agent_root.done("start", "--worker", "w", "--prompt", "Add the feature.")
    wait_until(lambda: agent_root.status()["status"] == "needs_input", PATIENCE_SECS)
    worker = agent_root.status()
    assert worker["evidence"]["signal"] == "budget", worker["evidence"]
    assert worker["evidence"]["detail"].startswith("the budget of t1 is spent: 42,")
    assert len(agent_root.models.bills()) == 2
    assert agent_root.usage() == agent_root.true_usage()
    agent_root.models.answer_with([Commit("feature.txt"), Text("Done.")])
    assert "delivered" in agent_root.done("task", "release", "t1")
    wait_until(lambda: agent_root.status()["status"] in ("needs_review", "needs_input"), PATIENCE_SECS)


CHILD = "You are the child."
SUB_AGENT = {
    "claude": Use("Agent", {"description": "look around", "prompt": CHILD, "subagent_type": "general-purpose"}),
    "opencode": Use("task", {"description": "look around", "prompt": CHILD, "subagent_type": "general"}),
}


@pytest.mark.lesson(
    57, "each answer counts once, caches in buckets of their own, sub-agents too; unknown stays unknown"
)
@pytest.mark.timeout(300)
@agents("claude")
def test_sub_agents_and_conversations_that_go_on_or_are_forked_count_once(agent_root: AgentRoot) -> None:
    _with_a_sub_agent(agent_root)
    _that_goes_on(agent_root)
    words = ("--resume", agent_root.status()["conversation"], "--fork-session", "Forked words.")
    argv = ["claude", "-p", "--dangerously-skip-permissions", *words]
    answer = agent_root.machine.namespace.run(argv, env=agent_root.machine.env, cwd=str(agent_root.worktree))
    assert answer.ok, answer.complaint
    assert "Forked words." in agent_root.models.prompts()
    wait_until(lambda: agent_root.usage() == agent_root.true_usage(), 30)


@pytest.mark.hazard
@pytest.mark.timeout(400)
@agents("codex", "gemini", "opencode")
def test_conversations_that_go_on_count_once(agent_root: AgentRoot) -> None:
    _with_a_sub_agent(agent_root)
    _that_goes_on(agent_root)


@pytest.mark.hazard
@pytest.mark.timeout(300)
@agents("claude", "codex", "gemini", "opencode")
def test_what_a_killed_cli_has_written_counts_once(agent_root: AgentRoot) -> None:
    """Its conversation ends in the middle of a tool, and goes on from there. Of that answer some have told nothing."""
    agent_root.models.charge(each_its_own)
    agent_root.models.answer_with([Run("echo one"), Run(WAITS), Text("Never said.")])
    agent_root.done("start", "--worker", "w", "--prompt", "Add the feature.")
    wait_until(lambda: sum(not bill.auxiliary for bill in agent_root.models.bills()) == 2, PATIENCE_SECS)
    late = agent_root.machine.agent.name in TELL_AFTER_TOOLS
    lost = [bill for bill in agent_root.models.bills() if not bill.auxiliary][-1:] if late else []
    wait_until(lambda: agent_root.usage() == agent_root.true_usage(lost), 30)
    agent_root.signal("KILL")
    wait_until(lambda: agent_root.status()["session"] != "up", PATIENCE_SECS)
    _that_goes_on(agent_root, lost)


def _with_a_sub_agent(agent_root: AgentRoot) -> None:
    """Where there is a tool for that."""
    sub_agent = SUB_AGENT.get(agent_root.machine.agent.name, Run("echo one"))

    def answers(prompt: str) -> list[Step]:
        if CHILD in prompt:
            return [Run("echo child"), Text("Looked.")]
        return [sub_agent, Commit("feature.txt"), Text("Done.")]

    agent_root.models.charge(each_its_own)
    agent_root.models.answer_with(answers)
    agent_root.done("start", "--worker", "w", "--prompt", "Add the feature.")
    wait_until(lambda: agent_root.status()["status"] == "needs_review", PATIENCE_SECS)
    wait_until(lambda: agent_root.usage() == agent_root.true_usage(), 30)
    assert (CHILD in agent_root.models.prompts()) == (agent_root.machine.agent.name in SUB_AGENT)


def _that_goes_on(agent_root: AgentRoot, lost: Sequence[Bill] = ()) -> None:
    agent_root.models.answer_with([Text("More.")])
    agent_root.done("restart", "w")
    agent_root.message("Go on please.")
    wait_until(lambda: "Go on please." in agent_root.models.prompts(), PATIENCE_SECS)
    wait_until(lambda: agent_root.usage() == agent_root.true_usage(lost), 30)
