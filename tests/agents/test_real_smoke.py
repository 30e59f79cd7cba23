"""The rig itself: real agent CLIs in a machine with nothing but loopback, doing what the scripted model says."""

from __future__ import annotations

import subprocess
from pathlib import Path

from llmc.tmux.parsing import Pane
from llmc.tmux.server import CONFIGURATION, Tmux
from testing.namespace import Namespace
from testing.real_agents import AgentMachine
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import real_agent as real_agent
from testing.roots import make_repository
from testing.waiting import wait_until

SIZE = (160, 50)
PROMPT = """\
Bitte größer machen → 日本語, "quoted" 'so' and `$(so)`; 100 % \\n

\tone tab, then: model:commit(notes.txt)"""


def start_agent(machine: AgentMachine, repository: Path, configuration: Path) -> tuple[Tmux, Pane]:
    configuration.write_text(CONFIGURATION.format(width=SIZE[0], height=SIZE[1]))
    tmux = Tmux(machine.host, "llmc-smoke")
    tmux.start(str(configuration))
    pane = tmux.new_session("agent", str(repository), machine.agent.argv, {}, SIZE)
    wait_until(lambda: machine.agent.composer.search(tmux.capture(pane.id)), 60)
    return tmux, pane


def submit(tmux: Tmux, pane: Pane, machine: AgentMachine, text: str) -> None:
    """Presses Enter until the model has heard something: a CLI may ignore one that comes close after a paste."""
    tmux.paste(pane.id, text.encode(), "smoke")
    wait_until(lambda: "model:commit" in tmux.capture(pane.id))
    for _ in range(5):
        tmux.press(pane.id, "Enter")
        try:
            wait_until(machine.models.prompts, 5)
        except AssertionError:
            continue
        return


def subjects(repository: Path) -> list[str]:
    log = ["git", "-C", str(repository), "log", "--format=%s"]
    return subprocess.run(log, capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_prompt_reaches_the_model_byte_for_byte_and_its_work_is_done(
    agent_machine: AgentMachine, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "repository")
    agent_machine.accept(repository)
    tmux, pane = start_agent(agent_machine, repository, tmp_path / "tmux.conf")
    submit(tmux, pane, agent_machine, PROMPT)
    assert agent_machine.models.prompts() == [PROMPT], tmux.capture(pane.id)
    wait_until(lambda: subjects(repository) == ["Add notes.txt", "first"], 40)
    wait_until(lambda: "All done" in tmux.capture(pane.id))
    assert agent_machine.models.prompts() == [PROMPT]
