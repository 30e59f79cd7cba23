"""A real CLI as supervisor: it delegates by its tools, waits, reads, comments, and a person accepts what came of it."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from testing.models.steps import Run, Step, Text, Use
from testing.real_agents import AgentMachine, AgentRoot, agents, make_empty_root
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import real_agent as real_agent
from testing.waiting import wait_until

PATIENCE_SECS = 120.0
ONE = "demo:write one.txt first\ndemo:commit Add the first"
TWO = "demo:write two.txt second\ndemo:commit Add the second"
REWORK = "demo:write one.txt better\ndemo:commit Say it better"


class Coordinator:
    """The model of the supervisor. It waits for longer than the client's own limit, and asks again."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def gate(self, name: str) -> Run:
        """Until the test lets it pass."""
        here, go = (shlex.quote(str(self.place / f"{name}-{end}")) for end in ("here", "go"))
        return Run(f"touch {here}; until test -e {go}; do sleep 0.1; done")

    def __call__(self, prompt: str) -> Sequence[Step]:
        if "Coordinate" not in prompt:
            return [Text("Nothing to do.")]
        return [
            Use("delegate", {"text": ONE, "worker": "ann", "request_id": "one"}),
            Use("delegate", {"text": TWO, "worker": "ben", "request_id": "two"}),
            self.gate("client"),
            self.gate("server"),
            Use("delegate", {"text": ONE, "worker": "ann", "request_id": "one"}),
            Use("delegate", {"text": TWO, "worker": "ben", "request_id": "two"}),
            Use("wait", {"id": "t2", "secs": 600}),
            Use("wait", {"id": "t3", "secs": 600}),
            Use("wait", {"id": "t3", "secs": 600, "known": "review"}),
            Use("result", {"id": "t2"}),
            Use("comment", {"worker": "ann", "path": "one.txt", "line": 1, "text": "Say it better."}),
            Use("reject", {"worker": "ann", "text": REWORK}),
            *[Use("wait", {"id": "t2", "secs": 600}) for _ in range(12)],
            Use("result", {"id": "t2"}),
            Use("accept", {"worker": "ann"}),
            Text("Both are ready for you."),
        ]


@agents("claude")
@pytest.mark.timeout(400)
@pytest.mark.lesson(58, "supervision costs no tokens, and budgets are kept by code")
def test_a_supervisor_delegates_and_a_person_accepts(agent_machine: AgentMachine, tmp_path: Path) -> None:
    root = make_empty_root(agent_machine, tmp_path)
    root.models.answer_with(Coordinator(tmp_path))
    with (root.root / "config.toml").open("a") as settings:
        settings.write('\n[agents.claude]\nenv = { MCP_TOOL_TIMEOUT = "5000" }\n')
        settings.write('\n[agents.demo]\nenv = { LLMC_DEMO_PACE = "0.01" }\n')
    root.done("add", "boss", "--role", "supervisor", "--agent", agent_machine.agent.name)
    for name in ("ann", "ben"):
        root.done("add", name, "--agent", "demo")
    root.done("up", "--detach")
    root.done("start", "--worker", "boss", "--prompt", "Coordinate the two files.")

    # Killed in the middle, the client first: what it has delegated is there, and is not delegated again.
    wait_until((tmp_path / "client-here").exists, PATIENCE_SECS)
    assert len(_tasks(root)) == 3
    pane = root.tmux.panes()["llmc-boss"]
    _kill(root, "pkill", "--session", str(pane.pid))
    wait_until(lambda: root.status("boss")["session"] == "crashed", PATIENCE_SECS)
    (tmp_path / "client-go").touch()
    root.done("restart", "boss", "--resend")

    # Then its server and the daemon, behind the back of the client.
    wait_until((tmp_path / "server-here").exists, PATIENCE_SECS)
    _kill(root, "pkill", "--full", "llmc.cli.main .* mcp --worker=boss")
    _kill(root, "kill", str(_daemon(root)["pid"]))
    wait_until(lambda: not _daemon(root)["running"], PATIENCE_SECS)
    root.done("up", "--detach")
    (tmp_path / "server-go").touch()

    wait_until(lambda: "Both are ready" in (root.status("boss")["last_words"] or ""), PATIENCE_SECS)
    told = _told(root)
    assert any("timed out" in each for each in told), "no wait went across the limit of the client"
    assert "No such tool" in told[-1], "it may not accept"
    assert any("better" in each for each in told)
    tasks = _tasks(root)
    assert [task["text"] for task in tasks[1:]] == [ONE, TWO], "nothing was delegated twice"
    assert {task["asked_by"] for task in tasks[1:]} == {"boss"}
    assert {task["parent"] for task in tasks[1:]} == {"t1"}
    log = [each["detail"] for each in json.loads(root.done("events", "--json", "--lines", "500"))]
    assert any("boss (claude-code) asks: comment worker=ann path=one.txt line=1" in words for words in log)
    assert root.status("ann")["status"] == root.status("ben")["status"] == "needs_review"
    assert "better" in (Path(root.status("ann")["worktree_path"]) / "one.txt").read_text()

    root.done("review", "ann")
    root.done("review", "ben")
    root.done("accept", "ann", "ben")
    subjects = subprocess.check_output(["git", "log", "--format=%s", "main"], cwd=root.source, text=True)
    assert subjects.splitlines()[:2] == ["Add the second", "Add the first"]


def _kill(root: AgentRoot, how: str, *which: str) -> None:
    """Of the processes in the machine of the test, which has its own."""
    assert root.machine.namespace.run([how, "-KILL", *which], env=root.machine.env).ok


def _daemon(root: AgentRoot) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(root.done("status", "--json"))["daemon"]
    return found


def _told(root: AgentRoot) -> list[str]:
    """What the tools have answered, as the model was told."""
    bodies = [request.body for request in root.models.requests if not request.auxiliary]
    blocks = [block for message in bodies[-1]["messages"] if message["role"] == "user" for block in message["content"]]
    return [
        json.dumps(block["content"]) for block in blocks if isinstance(block, dict) and block["type"] == "tool_result"
    ]


def _tasks(root: AgentRoot) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(root.done("task", "list", "--all", "--json"))["tasks"]
    return found


@pytest.mark.hazard
@pytest.mark.parametrize("sandbox", ["off", "bwrap"])
@agents("codex", "gemini", "opencode")
@pytest.mark.timeout(300)
def test_every_supervisor_has_the_tools(agent_machine: AgentMachine, tmp_path: Path, sandbox: str) -> None:
    it_delegates(agent_machine, tmp_path, sandbox)


@agents("claude")
@pytest.mark.timeout(300)
def test_a_supervisor_behind_the_fence_has_the_tools(agent_machine: AgentMachine, tmp_path: Path) -> None:
    it_delegates(agent_machine, tmp_path, "bwrap")


def it_delegates(agent_machine: AgentMachine, tmp_path: Path, sandbox: str) -> None:
    root = make_empty_root(agent_machine, tmp_path)
    root.models.answer_with([Use("delegate", {"text": "Do it.", "request_id": "one"}), Text("It is under way.")])
    root.done("config", "set", "agents.codex.env", '{ LOOPBACK_KEY = "loopback-only" }')
    root.done("add", "boss", "--role", "supervisor", "--agent", agent_machine.agent.name, "--sandbox", sandbox)
    root.done("up", "--detach")
    root.done("start", "--worker", "boss", "--prompt", "Coordinate.")
    wait_until(lambda: len(_tasks(root)) == 2, PATIENCE_SECS)
    assert _tasks(root)[1]["asked_by"] == "boss"
    assert "You coordinate other coding agents" in json.dumps([request.body for request in root.models.requests])
    assert not subprocess.check_output(
        ["git", "status", "--porcelain", "--ignored"], cwd=root.status("boss")["worktree_path"]
    ), "the tools are wired outside of the worktree"
