"""What a real CLI does that nobody has asked it for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from llmc.root import Root
from testing.models.steps import Commit, Run, Text
from testing.real_agents import AgentMachine, agents, make_agent_root, make_empty_root
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import real_agent as real_agent
from testing.real_clis import offer_codex_update
from testing.waiting import wait_until

pytestmark = pytest.mark.hazard
PATIENCE_SECS = 150.0
OFFERS = 10
PLAIN_CODEX = """
[agents.plain]
command = ["codex", "--no-daemon"]
pack = "codex"
ready_timeout_secs = 20
"""


def watched_npm(machine: AgentMachine, where: Path) -> AgentMachine:
    """On this machine `npm` only writes down what it was to do."""
    npm = where / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(f'#!/bin/sh\necho "$@" >>{where}/installed\n')
    npm.chmod(0o755)
    return replace(machine, env={**machine.env, "PATH": f"{npm.parent}:{machine.env['PATH']}"})


@pytest.mark.lesson(11, "copy mode is left first, and a dialog gets neither text nor Enter")
@agents("codex")
@pytest.mark.timeout(240)
def test_an_update_that_is_offered_is_never_installed(agent_machine: AgentMachine, tmp_path: Path) -> None:
    """As LLMC starts it, Codex does not offer any; where it does so nevertheless, nobody presses its Enter."""
    root = make_empty_root(watched_npm(agent_machine, tmp_path), tmp_path)
    with (root.root / "config.toml").open("a") as config:
        config.write(PLAIN_CODEX)
    for worker, agent in {"w": "codex", "plain": "plain"}.items():
        root.done("add", worker, "--agent", agent)
        agent_machine.accept(root.root / ".worktrees" / worker)
    offer_codex_update(agent_machine.home)
    root.llmc("up", "--detach")
    assert root.status("w")["status"] == "idle"
    for _ in range(OFFERS):
        if root.status("plain")["status"] == "error":
            break
        # Whoever starts first may have told the other that there is nothing new.
        offer_codex_update(agent_machine.home)
        root.llmc("restart", "plain")
    assert "Skip until next version" in root.status("plain")["evidence"]["detail"]
    assert not (tmp_path / "installed").exists()


@pytest.mark.lesson(20, "who has something running in the background is busy")
@agents("claude")
@pytest.mark.timeout(240)
def test_what_it_left_running_in_the_background_is_waited_for(agent_machine: AgentMachine, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    root = make_agent_root(agent_machine, tmp_path, accepted=True)
    waits = Run(f"while [ ! -e {gate} ]; do sleep 0.2; done", in_background=True)
    root.models.answer_with([waits, Commit("feature.txt"), Text("Started it.")])
    root.done("start", "--worker", "w", "--prompt", "Add the feature.")
    wait_until(lambda: "1 shell still running" in root.done("peek", "w"), timeout=PATIENCE_SECS)
    wait_until(lambda: not any(Path(Root(str(root.root)).spool("w")).glob("*.json")), timeout=PATIENCE_SECS)
    assert root.status()["status"] == "working"
    gate.touch()
    wait_until(lambda: root.status()["status"] == "needs_review", timeout=PATIENCE_SECS)
