"""The everyday on the real CLIs: from a fresh home to one clean commit, unattended."""

from __future__ import annotations

import json
import subprocess

import pytest

from llmc.agents.registry import BUILT_IN
from llmc.agents.transcripts import Whereabouts, prompts_since
from llmc.core.delivery.texts import told_digest
from llmc.root import Root
from testing.models.steps import Commit, Text
from testing.models.tokens import each_its_own
from testing.real_agents import AgentRoot, agents, with_every_agent
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import agent_root as agent_root
from testing.real_agents import real_agent as real_agent
from testing.waiting import wait_until

TASK = """\
Bitte größer machen → 日本語, "quoted" 'so' and `$(so)`; 100 % \\n

\tone tab, then: add the feature."""


@pytest.mark.lesson(2, "proof is the agent's own report, or an input line seen full and then empty")
@pytest.mark.lesson(6, "slash commands are typed, and a menu may take their first Enter")
@pytest.mark.lesson(15, "reports that are missing or not trusted are noticed, and the deciding signal is shown")
@pytest.mark.lesson(32, "files of ours never show in a worktree's status or commits")
@pytest.mark.lesson(
    57, "each answer counts once, caches in buckets of their own, sub-agents too; unknown stays unknown"
)
@pytest.mark.timeout(400)
@with_every_agent
def test_from_a_fresh_home_to_one_clean_commit(agent_root: AgentRoot) -> None:
    agent_root.models.answer_with([Commit("feature.txt"), Text("Done.")])
    agent_root.models.charge(each_its_own)
    assert agent_root.status()["status"] == "idle"
    receipt = json.loads(agent_root.done("start", "--worker", "w", "--prompt", TASK, "--json"))
    assert receipt["outcome"] == "delivered"
    assert receipt["proof"] == agent_root.machine.agent.proof
    wait_until(lambda: agent_root.status()["status"] == "needs_review", timeout=90)
    assert agent_root.machine.agent.submits(f"The task:\n\n{TASK}").strip() in agent_root.models.prompts()[0]
    assert _git(agent_root, "status", "--porcelain", at=str(agent_root.worktree)) == ""
    agent_root.done("review", "w", "--interface", "stat")
    before = _git(agent_root, "rev-parse", "main")
    agent_root.done("accept", "w")
    assert _git(agent_root, "rev-list", "--count", f"{before}..main") == "1"
    assert "feature.txt" in _git(agent_root, "show", "--stat", "--format=%B", "main")
    assert agent_root.status()["status"] == "idle"
    assert _git(agent_root, "status", "--porcelain") == ""
    _its_transcript_has_the_prompt(agent_root)
    _its_usage_is_what_the_model_knows(agent_root)
    _next_task_begins_afresh(agent_root)


@pytest.mark.lesson(36, "a process tree is ended whole, adopted children included")
@pytest.mark.timeout(240)
@agents("cline")
def test_nothing_of_it_outlives_its_terminal(agent_root: AgentRoot) -> None:
    """Started without a data directory of the worker's own, Cline leaves a daemon behind that serves all the others."""
    assert "cline" in _processes(agent_root)
    agent_root.done("down", "--force")
    assert "cline" not in _processes(agent_root)


def _processes(agent_root: AgentRoot) -> set[str]:
    table = agent_root.machine.namespace.run(["ps", "-eo", "comm="], env=agent_root.machine.env).text
    return set(table.split())


def _its_transcript_has_the_prompt(agent_root: AgentRoot) -> None:
    """Where the CLI keeps one that can be read: it is looked into when nothing else tells whether a text arrived."""
    transcripts = BUILT_IN[agent_root.machine.agent.name]().transcripts
    assert (transcripts is not None) == agent_root.machine.agent.keeps_transcripts
    if transcripts is not None:
        settings = Root(str(agent_root.root)).settings_dir("w")
        where = Whereabouts(str(agent_root.machine.home), str(agent_root.worktree), settings)
        written = prompts_since(transcripts, where, 0.0)
        assert {told_digest(prompt) for prompt in agent_root.models.prompts()} <= written


def _its_usage_is_what_the_model_knows(agent_root: AgentRoot) -> None:
    """To the last token, whose task it was included."""
    if agent_root.machine.agent.tells_usage:
        wait_until(lambda: agent_root.usage() == agent_root.true_usage(), timeout=30)
        assert {row["task"] for row in json.loads(agent_root.done("usage", "--json"))["rows"]} == {"t1"}


def _next_task_begins_afresh(agent_root: AgentRoot) -> None:
    """The command that clears the conversation was typed, and its menu has not kept it from being run."""
    agent_root.done("start", "--worker", "w", "--prompt", "Add another feature.")
    wait_until(lambda: "Add another feature." in _words_of_the_last_request(agent_root), timeout=90)
    assert "add the feature." not in _words_of_the_last_request(agent_root)
    assert len(agent_root.models.prompts()) == 2


def _words_of_the_last_request(agent_root: AgentRoot) -> str:
    requests = [request for request in agent_root.models.requests if not request.auxiliary]
    return "\n".join(turn.text for turn in requests[-1].turns)


def _git(agent_root: AgentRoot, *words: str, at: str = "") -> str:
    where = at or str(agent_root.source)
    return subprocess.run(["git", "-C", where, *words], check=True, capture_output=True, text=True).stdout.strip()
