"""The real CLIs behind the fence: from a fresh home to a commit that lands, with the person's own files untouched."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from llmc.agents.registry import BUILT_IN
from llmc.agents.transcripts import Whereabouts, prompts_since
from llmc.core.delivery.texts import told_digest
from llmc.root import Root
from testing.commands import listing
from testing.models.steps import Commit, Text
from testing.models.tokens import each_its_own
from testing.real_agents import AgentMachine, AgentRoot, make_empty_root
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import real_agent as real_agent
from testing.waiting import wait_until


@pytest.fixture
def fenced_root(agent_machine: AgentMachine, tmp_path: Path) -> AgentRoot:
    made = make_empty_root(agent_machine, tmp_path)
    made.done("config", "set", "agents.codex.env", '{ LOOPBACK_KEY = "loopback-only" }')
    made.done("add", "w", "--agent", agent_machine.agent.name, "--sandbox", "bwrap")
    made.done("up", "--detach")
    return made


@pytest.mark.timeout(400)
def test_a_task_to_its_commit_behind_the_fence(fenced_root: AgentRoot) -> None:
    home = Path(os.environ["HOME"])
    before = listing(home)
    fenced_root.models.charge(each_its_own)
    fenced_root.models.answer_with([Commit("feature.txt"), Text("Done.")])
    receipt = json.loads(fenced_root.done("start", "--worker", "w", "--prompt", "Add the feature.", "--json"))
    assert (receipt["outcome"], receipt["proof"]) == ("delivered", fenced_root.machine.agent.proof)
    wait_until(lambda: fenced_root.status()["status"] == "needs_review", timeout=90)
    _its_transcript_has_the_prompt(fenced_root)
    fenced_root.done("review", "w", "--interface", "stat")
    fenced_root.done("accept", "w")
    landed = fenced_root.machine.namespace.run(
        ["git", "show", "--stat", "--format=", "main"], env=fenced_root.machine.env, cwd=str(fenced_root.source)
    )
    assert "feature.txt" in landed.text
    assert fenced_root.status()["status"] == "idle"
    wait_until(lambda: fenced_root.usage() == fenced_root.true_usage(), timeout=30)
    fenced_root.done("nuke", "w", "--yes")
    assert fenced_root.usage() == fenced_root.true_usage()  # what it was counted from has gone with its home
    assert listing(home) == before


def _its_transcript_has_the_prompt(fenced_root: AgentRoot) -> None:
    transcripts = BUILT_IN[fenced_root.machine.agent.name]().transcripts
    if transcripts is not None:
        root = Root(str(fenced_root.root))
        where = Whereabouts(root.fence_home("w"), str(fenced_root.worktree), root.settings_dir("w"))
        written = prompts_since(transcripts, where, 0.0)
        assert {told_digest(prompt) for prompt in fenced_root.models.prompts()} <= written
