"""`llmc doctor --agents` against the real CLIs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testing.real_agents import LLMC, AgentMachine
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import real_agent as real_agent

pytestmark = pytest.mark.hazard


@pytest.mark.lesson(15, "reports that are missing or not trusted are noticed, and the deciding signal is shown")
@pytest.mark.lesson(17, "what reads screens is versioned data beside recordings, and drift is told")
@pytest.mark.timeout(400)
def test_an_installed_cli_is_as_llmc_knows_it(agent_machine: AgentMachine, tmp_path: Path) -> None:
    words = [str(LLMC), "--root", str(tmp_path / "none"), "doctor", "--agents", "--json"]
    only = tmp_path / "bin"
    only.mkdir()
    path = f"{only}:{agent_machine.env['PATH'].partition(':')[2]}"
    program = Path(agent_machine.env["PATH"].partition(":")[0], agent_machine.agent.name)
    (only / agent_machine.agent.name).symlink_to(program)
    env = {**agent_machine.env, "PATH": path}
    said = agent_machine.namespace.run(words, env=env, cwd=str(tmp_path), timeout=350)
    data = json.loads(said.text)
    tried = {each["agent"]: each for each in data["agents"]}
    own = tried.pop(agent_machine.agent.name)
    assert {check["name"]: check["verdict"] for check in own["checks"]} == dict.fromkeys(
        ("version", "options", "prompt", "events", "delivery", "answer"), "ok"
    ), json.dumps(own, indent=1)
    assert (said.code, data["ok"]) == (0, True)
    assert not any(each["installed"] for each in tried.values())
    assert len(agent_machine.models.prompts()) == 1
