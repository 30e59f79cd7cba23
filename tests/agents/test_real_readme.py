"""A stranger types what the README says, on a fresh home, with the real Claude Code."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from testing.models.steps import Run, Step, Text
from testing.namespace import PROJECT
from testing.pages import commands_in
from testing.real_agents import LLMC, AgentMachine, agents
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import real_agent as real_agent
from testing.roots import make_repository
from testing.waiting import wait_until

NEEDS_WORK = ("llmc review", "llmc reject", "llmc accept")
PATIENCE_SECS = 150.0


def _author(prompt: str) -> Sequence[Step]:
    """The model: commits as it is asked, with its credits, and answers what is no task."""
    if "is sent back" in prompt:
        return [Run("echo empty >> login && git commit --quiet --all -m 'Handle the empty case'"), Text("Done.")]
    if "Add a login page" in prompt:
        message = "-m 'Add a login page' -m 'Co-Authored-By: Claude <noreply@anthropic.com>'"
        return [Run(f"echo form > login && git add login && git commit --quiet {message}"), Text("Done.")]
    return [Text("I will.")]


@agents("claude")
@pytest.mark.timeout(300)
def test_the_readme_from_init_to_down(agent_machine: AgentMachine) -> None:
    shop = make_repository(agent_machine.home / "code" / "shop")
    agent_machine.models.answer_with(_author)
    lines = commands_in(PROJECT / "README.md")
    for line in lines[lines.index("cd ~/code/shop") + 1 :]:
        if line.startswith(NEEDS_WORK):
            wait_until(lambda: "needs_review" in _statuses(agent_machine, shop), PATIENCE_SECS)
        _type(agent_machine, shop, line.replace("--agent codex", "--agent claude"))
    log = ["git", "-C", str(shop), "log", "--format=%s%n%b", "-1", "main"]
    said = subprocess.run(log, check=True, capture_output=True, text=True).stdout
    assert said.split("\n") == ["Add a login page", "- Handle the empty case", "", ""]
    assert (shop / "login").read_text() == "form\nempty\n"
    assert _statuses(agent_machine, shop) == ["offline", "offline"]


def _type(machine: AgentMachine, where: Path, line: str) -> str:
    env = {**machine.env, "PATH": f"{LLMC.parent}:{machine.env['PATH']}"}
    done = machine.namespace.run(["sh", "-c", line], env=env, cwd=str(where), timeout=PATIENCE_SECS)
    assert done.ok, f"$ {line}\n{done.text}{done.complaint}"
    return done.text


def _statuses(machine: AgentMachine, where: Path) -> list[str]:
    return [worker["status"] for worker in json.loads(_type(machine, where, "llmc status --json"))["workers"]]
