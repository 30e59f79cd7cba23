"""A real CLI beside a shell in a person's own tmux: what they do is what the status line says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from testing.desk import Desk, at_desk
from testing.models.steps import Run, Text
from testing.real_agents import AgentMachine, installed, machine_for
from testing.real_clis import AGENTS
from testing.waiting import wait_until

PATIENCE_SECS = 150.0
CLAUDE, CODEX = (next(agent for agent in AGENTS if agent.name == name) for name in ("claude", "codex"))

pytestmark = [pytest.mark.hazard, pytest.mark.timeout(300)]


@pytest.fixture
def machine(request: pytest.FixtureRequest) -> Iterator[AgentMachine]:
    with machine_for(installed(request.param)) as machine:
        yield machine


@pytest.fixture
def desk(machine: AgentMachine) -> Iterator[Desk]:
    with at_desk(machine.home, machine.namespace.entering(), machine.env) as desk:
        (machine.home / "shop").mkdir()
        machine.accept(machine.home / "shop")
        yield desk


def shows(desk: Desk, name: str, state: str) -> None:
    """The status line says so, and so does everything else that can be read."""
    desk.until(lambda: f"[{name}: {state}]" in desk.look(), PATIENCE_SECS)

    def agree() -> bool:
        told = {each["id"]: (each["state"], each["summary"]) for each in desk.json("pty", "status")["terminals"]}
        kept = desk.status(name)
        return told[name] == (kept["state"], kept["summary"]) == desk.row(name) and kept["state"] == state

    desk.until(agree, PATIENCE_SECS)


@pytest.mark.parametrize("machine", [CLAUDE], indirect=True, ids=["claude"])
def test_the_status_line_follows_claude_and_a_shell(machine: AgentMachine, desk: Desk) -> None:
    options = desk.tmux("show-options", "-g")
    desk.llmc("pty", "create", "shop", "--name", "agent", "--cli", "claude")
    desk.llmc("pty", "create", "shop", "--name", "shell")
    desk.llmc("pty", "statusline", "install")
    desk.llmc("pty", "watch", "--detach", "--interval", "1")
    shows(desk, "agent", "READY")
    shows(desk, "shell", "READY")

    desk.type("shell", "sleep 1000")
    shows(desk, "shell", "BUSY")
    desk.tmux("send-keys", "-t", desk.pane("shell"), "C-c")
    shows(desk, "shell", "READY")

    machine.models.answer_with([Text("I read it all. " * 20, over_secs=8), Text("Done.")])
    submit(desk, machine, "Look around.")
    shows(desk, "agent", "BUSY")
    shows(desk, "agent", "READY")
    desk.until(lambda: desk.status("agent")["source"] == "hook")

    machine.models.answer_with([Run("touch made-by-hand"), Text("Done.")])
    submit(desk, machine, "Make a file.")
    shows(desk, "agent", "NEEDS_CONFIRMATION")
    assert desk.status("agent")["detail"] == "permission"
    desk.tmux("send-keys", "-t", desk.pane("agent"), "Enter")
    shows(desk, "agent", "READY")
    assert (machine.home / "shop" / "made-by-hand").exists()

    said = [line.split()[2] for line in desk.llmc("pty", "tail", "shell").out.splitlines()]
    assert said == ["READY", "BUSY", "READY"]
    desk.llmc("pty", "statusline", "remove")
    assert desk.tmux("show-options", "-g") == options
    for name in ("agent", "shell"):
        desk.llmc("pty", "close", name)
        wait_until(lambda name=name: not (desk.root / ".workers" / name).exists() and desk.row(name) == ("", ""))
    desk.llmc("pty", "watch", "--stop")
    assert desk.json("pty", "status")["watcher"] == {"running": False, "pid": None}
    assert "agent" not in desk.look()


@pytest.mark.parametrize("machine", [CODEX], indirect=True, ids=["codex"])
def test_a_codex_that_reports_nothing_is_followed_by_its_transcript(machine: AgentMachine, desk: Desk) -> None:
    desk.llmc("pty", "create", "shop", "--name", "agent", "--command", "codex --no-daemon")
    desk.llmc("pty", "statusline", "install")
    desk.llmc("pty", "watch", "--detach", "--interval", "1")
    shows(desk, "agent", "READY")
    assert desk.status("agent")["source"] == "screen", "there is no transcript before the first prompt"

    machine.models.answer_with([Text("I read it all. " * 20, over_secs=8), Text("Done.")])
    submit(desk, machine, "Look around.")
    shows(desk, "agent", "BUSY")
    desk.until(lambda: desk.status("agent")["source"] == "transcript", PATIENCE_SECS)
    shows(desk, "agent", "READY")
    assert desk.status("agent")["source"] == "transcript"


def submit(desk: Desk, machine: AgentMachine, prompt: str) -> None:
    """Enter is pressed until the model has heard it: Claude Code may ignore one that comes close after the text."""
    desk.tmux("send-keys", "-t", desk.pane("agent"), "-l", prompt)

    def heard() -> bool:
        desk.tmux("send-keys", "-t", desk.pane("agent"), "Enter")
        return any(prompt in each for each in machine.models.prompts())

    wait_until(heard, PATIENCE_SECS)
