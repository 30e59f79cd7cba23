"""The real CLIs, asking for permission: what a rule covers is allowed unasked, nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.models.steps import Run, Text
from testing.real_agents import EACH_AGENT, AgentRoot, installed, machine_for, make_empty_root
from testing.roots import own_environment
from testing.waiting import wait_until

RULE = """
[[policy.auto_confirm]]
agent = "{agent}"
kind = "permission"
pattern = "touch made-[a-z]+"
"""
PATIENCE_SECS = 120

pytestmark = [pytest.mark.hazard, pytest.mark.timeout(300)]


@pytest.fixture(params=EACH_AGENT)
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AgentRoot]:
    agent = installed(request.param)
    with own_environment(tmp_path / "home"), machine_for(agent) as machine:
        made = make_empty_root(machine, tmp_path)
        for name, value in {"skip_permissions": "false", "allowed_tools": "[]"}.items():
            made.done("config", "set", f"defaults.{name}", value)
        with (made.root / "config.toml").open("a") as settings:
            settings.write(RULE.format(agent=agent.name))
        made.done("add", "w", "--agent", agent.name)
        made.done("up", "--detach")
        yield made
        made.done("down", "--force")


def test_what_a_rule_covers_is_allowed_and_nothing_else(root: AgentRoot) -> None:
    allowed, refused = root.worktree / "made-unasked", root.worktree / "pwned"
    root.models.answer_with([Run(f"touch {allowed.name}", outside_sandbox=True), Text("Done.")])
    root.message("Make the file.")
    wait_until(allowed.exists, timeout=PATIENCE_SECS)
    told = root.done("explain", "w")
    assert "answered unasked" in told
    assert f"touch {allowed.name}" in told
    wait_until(lambda: root.reading().state == "READY", timeout=PATIENCE_SECS)

    # A rule that allows the beginning of a command does not allow the rest of it.
    command = f"touch made-again; touch {refused.name}"
    root.models.answer_with([Run(command, outside_sandbox=True), Text("Done.")])
    root.message("Make two more.")
    wait_until(lambda: root.reading().state == "NEEDS_CONFIRMATION", timeout=PATIENCE_SECS)
    wait_until(lambda: "not answered unasked: no rule covers" in root.done("explain", "w"), timeout=PATIENCE_SECS)
    assert root.done("events", "w").count("yes to permission") == 1
    assert not refused.exists()
