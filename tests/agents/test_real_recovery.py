"""An agent that is killed in the middle of a task, on the real CLIs: its conversation is resumed, its work goes on."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from llmc.root import Root
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux
from testing.models.steps import Commit, Run, Step, Text
from testing.real_agents import AgentMachine, AgentRoot, agents, make_agent_root
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import real_agent as real_agent
from testing.waiting import wait_until

pytestmark = pytest.mark.hazard

PATIENCE_SECS = 150.0
TASK = "Add the feature."
NOTE = "the session ended while you worked"


def answers(prompt: str) -> list[Step]:
    """At first something that takes for ever; whoever is told that the session had ended finishes the work."""
    if NOTE in prompt:
        return [Commit("feature.txt"), Text("Done.")]
    return [Run("echo half > half.txt && sleep 600"), Text("Never said.")]


def in_the_middle(machine: AgentMachine, where: Path, autonomy: str) -> AgentRoot:
    """A worker whose agent is in the middle of its task."""
    machine.models.answer_with(answers)
    root = make_agent_root(machine, where, accepted=True)
    for key, value in {"autonomy": autonomy, "restart_backoff_secs": "1"}.items():
        root.done("config", "set", f"policy.{key}", value)
    root.done("start", "--worker", "w", "--prompt", TASK)
    half = root.worktree / "half.txt"
    wait_until(half.exists, PATIENCE_SECS)
    return root


def pane(root: AgentRoot) -> Pane:
    return Tmux(root.machine.host, Root(str(root.root)).tmux_socket).panes()["llmc-w"]


def kill(root: AgentRoot, *pids: str) -> None:
    assert root.machine.namespace.run(["kill", "-9", "--", *pids], env=root.machine.env).ok


def subject(root: AgentRoot) -> str:
    words = ["git", "-C", str(root.worktree), "log", "-1", "--format=%s"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def prompts_accepted(root: AgentRoot) -> int:
    """How many prompts the agent says that it was given. What a CLI tells its model of the past is its own affair."""
    events = json.loads(root.done("events", "w", "--json", "-n", "1000"))
    return sum(event["signal"] == "hook.prompt" for event in events)


def wait_for_review(root: AgentRoot) -> None:
    try:
        wait_until(lambda: root.status()["status"] == "needs_review", PATIENCE_SECS)
    except AssertionError as late:
        raise AssertionError(f"{late}\n{root.done('events', 'w')}\n{root.done('peek', 'w')}") from None
    assert subject(root) == "Add feature.txt"


def has_finished_in_its_conversation(root: AgentRoot) -> None:
    wait_for_review(root)
    assert prompts_accepted(root) == 2, root.done("events", "w")
    notes = [prompt for prompt in root.models.prompts() if NOTE in prompt]
    assert len(notes) == 1
    assert "started again with this conversation" in notes[0]
    last = [request for request in root.models.requests if not request.auxiliary][-1]
    assert any(TASK in turn.text for turn in last.turns), "the model knows of the task only by the conversation before"


@agents("claude", "codex", "gemini", "opencode")
@pytest.mark.timeout(400)
def test_killed_in_the_middle_it_goes_on_in_its_conversation(agent_machine: AgentMachine, tmp_path: Path) -> None:
    root = in_the_middle(agent_machine, tmp_path, "auto")
    kill(root, f"-{pane(root).pid}")
    has_finished_in_its_conversation(root)
    assert root.status()["crash_count"] == 1


@agents("claude")
@pytest.mark.timeout(400)
def test_after_a_reboot_everybody_is_back_at_work(agent_machine: AgentMachine, tmp_path: Path) -> None:
    root = in_the_middle(agent_machine, tmp_path, "auto")
    daemon = str(json.loads(root.done("status", "--json"))["daemon"]["pid"])
    kill(root, daemon, str(pane(root).server_pid), f"-{pane(root).pid}")
    root.done("up", "--detach")
    has_finished_in_its_conversation(root)
    assert root.status()["crash_count"] == 0


@pytest.mark.lesson(13, "the loss of a session never erases the work")
@agents("claude")
@pytest.mark.timeout(300)
def test_unasked_it_is_only_shown(agent_machine: AgentMachine, tmp_path: Path) -> None:
    root = in_the_middle(agent_machine, tmp_path, "manual")
    kill(root, f"-{pane(root).pid}")
    wait_until(lambda: root.status()["session"] == "crashed", PATIENCE_SECS)
    root.done("patrol")
    worker = root.status()
    assert (worker["status"], worker["work"]) == ("offline", "working")
    assert [trouble["do"] for trouble in worker["troubles"]] == ["`llmc restart w` starts it again"]
    root.done("restart", "w")
    assert root.status()["work"] == "working"
    assert prompts_accepted(root) == 1, "nobody has told it to go on yet"
    root.done("message", "w", f"Go on; {NOTE}.")
    wait_for_review(root)
