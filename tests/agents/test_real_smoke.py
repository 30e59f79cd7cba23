"""The rig itself: real agent CLIs in a machine with nothing but loopback, doing what the scripted model says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from llmc.tmux.configuration import configuration
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux
from testing.real_agents import AgentMachine, agents, own_namespace
from testing.real_agents import agent_machine as agent_machine
from testing.real_agents import real_agent as real_agent
from testing.roots import make_repository
from testing.waiting import wait_until

SIZE = (160, 50)
LOOK_EVERY_SECS = 0.1
"""A look takes three processes, and the agent needs the processor."""
PATIENCE_SECS = 150.0
PROMPT = """\
Bitte größer machen → 日本語, "quoted" 'so' and `$(so)`; 100 % \\n

\tone tab, then: model:commit(notes.txt)"""
PASTED, DONE = re.compile(r"model:commit|\[Pasted"), re.compile("All done")
LOOK_AROUND = """\
import errno, socket
print([line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]])
with socket.socket() as outwards:
    print(errno.errorcode[outwards.connect_ex(("192.0.2.1", 80))])
"""


def test_inside_there_is_no_way_out() -> None:
    with own_namespace() as namespace:
        answer = namespace.run([sys.executable, "-c", LOOK_AROUND], env=os.environ)
    assert answer.text == "['lo']\nENETUNREACH\n", answer.complaint


def test_everything_inside_ends_with_it(tmp_path: Path) -> None:
    sign_of_life = tmp_path / "pipe"
    os.mkfifo(sign_of_life)
    with own_namespace() as namespace:
        leave_behind = f"setsid sh -c 'exec sleep 1000 >{sign_of_life}' >/dev/null 2>&1 &"
        assert namespace.run(["sh", "-c", leave_behind], env=os.environ).ok
        reader = sign_of_life.open("rb")  # waits for somebody to write
    with reader:
        assert reader.read() == b""  # until nobody can any more


def start_agent(machine: AgentMachine, repository: Path, settings: Path) -> tuple[Tmux, Pane]:
    settings.write_text(configuration(*SIZE))
    tmux = Tmux(machine.host, "llmc-smoke")
    tmux.start(str(settings))
    pane = tmux.new_session("agent", str(repository), machine.agent.argv, {}, SIZE)
    wait_for_screen(tmux, pane, machine.agent.composer)
    return tmux, pane


def wait_for_screen(tmux: Tmux, pane: Pane, shows: re.Pattern[str]) -> None:
    def look() -> bool:
        time.sleep(LOOK_EVERY_SECS)
        return shows.search(tmux.capture(pane.id)) is not None

    wait_until(look, PATIENCE_SECS)


def submit(tmux: Tmux, pane: Pane, machine: AgentMachine, text: str) -> None:
    """Presses Enter until the model has heard something: a CLI may ignore one that comes close after a paste."""
    tmux.paste(pane.id, text.encode(), "smoke")
    wait_for_screen(tmux, pane, PASTED)
    for _ in range(6):
        tmux.press(pane.id, "Enter")
        try:
            wait_until(machine.models.prompts, 15)
        except AssertionError:
            continue
        return


def git(repository: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", repository, *words], capture_output=True, text=True, check=True).stdout


@pytest.mark.lesson(17, "what reads screens is versioned data beside recordings, and drift is told")
@pytest.mark.timeout(300)
@agents("claude")
def test_a_prompt_reaches_the_model_byte_for_byte_and_its_work_is_done(
    agent_machine: AgentMachine, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "repository")
    git(repository, "config", "user.name", "Tess Ter")  # Gemini hides the user's own git settings from its commands
    git(repository, "config", "user.email", "tess@example.com")
    agent_machine.accept(repository)
    tmux, pane = start_agent(agent_machine, repository, tmp_path / "tmux.conf")
    submit(tmux, pane, agent_machine, PROMPT)
    heard = [agent_machine.agent.submits(PROMPT)]
    assert agent_machine.models.prompts() == heard, tmux.capture(pane.id)
    wait_until(lambda: git(repository, "log", "--format=%s") == "Add notes.txt\nfirst\n", PATIENCE_SECS)
    wait_for_screen(tmux, pane, DONE)
    assert agent_machine.models.prompts() == heard
