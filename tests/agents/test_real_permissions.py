"""The real CLIs with `skip_permissions = false`: nothing is run or written before somebody was asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.models.steps import Run, Step, Text, Write
from testing.real_agents import EACH_AGENT, AgentRoot, agents, installed, machine_for, make_empty_root
from testing.real_clis import RealAgent
from testing.roots import own_environment
from testing.waiting import wait_until

PATIENCE_SECS = 120

pytestmark = [pytest.mark.hazard, pytest.mark.timeout(400)]


@pytest.fixture(params=EACH_AGENT)
def real_agent(request: pytest.FixtureRequest) -> RealAgent:
    return installed(request.param)


@pytest.fixture
def root(real_agent: RealAgent, tmp_path: Path) -> Iterator[AgentRoot]:
    with own_environment(tmp_path / "home"), machine_for(real_agent) as machine:
        made = make_empty_root(machine, tmp_path)
        made.done("config", "set", "defaults.skip_permissions", "false")
        made.done("add", "w", "--agent", machine.agent.name)
        # The person has answered what the CLI asks about a directory; here it is about what it does there.
        machine.accept(made.root)
        machine.accept(made.worktree)
        made.done("up", "--detach")
        yield made
        made.done("down", "--force")


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(Run("touch made", outside_sandbox=True), id="command"),
        pytest.param(Write("made", "x\n"), id="file"),
    ],
)
def test_it_asks_before_it_acts(root: AgentRoot, step: Step) -> None:
    root.models.answer_with([step, Text("Done.")])
    root.message("Make the file.")
    wait_until(lambda: root.reading().state == "NEEDS_CONFIRMATION", timeout=PATIENCE_SECS)
    assert not (root.worktree / "made").exists()


@agents("claude")
def test_claude_reads_without_asking(root: AgentRoot) -> None:
    root.models.answer_with([Run("cat README"), Text("It has been read.")])
    root.message("Read the file.")
    wait_until(lambda: "It has been read." in root.tmux.capture(root.pane().id), timeout=PATIENCE_SECS)


@agents("codex")
def test_codex_cannot_write_with_a_command_that_it_did_not_ask_for(root: AgentRoot) -> None:
    root.models.answer_with([Run("touch made"), Text("It has been tried.")])
    root.message("Make the file.")
    wait_until(lambda: "It has been tried." in root.tmux.capture(root.pane().id), timeout=PATIENCE_SECS)
    assert not (root.worktree / "made").exists()
