"""Asking installed programs: small real ones, which count how often they were asked."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from llmc.agents.base import Agent, Launch, LaunchOrder
from llmc.agents.command_line import launch_of, option
from llmc.agents.packs import load_pack
from llmc.agents.registry import BUILT_IN
from llmc.core.program import InstalledProgram
from llmc.host.local import LocalHost
from llmc.perform import programs
from llmc.root import Root
from llmc.store.program_file import KEPT_FOR_SECS, look_at, read_program

HOST = LocalHost()
PROGRAM = """\
#!/bin/sh
echo "$@" >> "$0.asked"
case "$*" in
  --version) echo "mytool 1.2.3" ;;
  --help) printf 'Options:\\n  --new   a\\n  -m, --model NAME  b\\n' ;;
  "go --help") printf 'Options:\\n  --all   a\\n  -m, --model NAME  b\\n' ;;
  *) exit 2 ;;
esac
"""


def agent_of(program: Path) -> Agent:
    def launch(order: LaunchOrder) -> Launch:
        options = [option("--new", lost="news"), option("--old", lost="the past")]
        return launch_of(order.program, (str(program),), options)

    return Agent("mytool", launch, load_pack("generic"), asked_for_help=("", "go"))


def make_program(path: Path, text: str = PROGRAM) -> Path:
    path.write_text(text)
    path.chmod(0o700)
    return path


def asked(program: Path) -> list[str]:
    record = Path(f"{program}.asked")
    return sorted(record.read_text().splitlines()) if record.exists() else []


def test_a_program_is_asked_once_and_again_when_it_was_replaced(tmp_path: Path) -> None:
    program, root = make_program(tmp_path / "mytool"), Root(str(tmp_path))
    agent = agent_of(program)
    assert programs.known_program(HOST, root, agent) is None
    said = programs.installed_program(HOST, root, agent)
    assert said.version == "1.2.3"
    assert said.knows("--new")
    assert not said.knows("--old")
    assert said.knows("--all", "go")
    once = ["--help", "--version", "go --help"]
    assert asked(program) == once
    assert programs.installed_program(HOST, root, agent) == said == programs.known_program(HOST, root, agent)
    assert asked(program) == once

    make_program(program, PROGRAM.replace("1.2.3", "1.3"))
    assert programs.known_program(HOST, root, agent) is None
    assert programs.installed_program(HOST, root, agent).version == "1.3"

    programs.forget_installed(HOST, root, agent)
    assert programs.known_program(HOST, root, agent) is None


def test_a_damaged_or_old_answer_is_ignored(tmp_path: Path) -> None:
    program, root = make_program(tmp_path / "mytool"), Root(str(tmp_path))
    agent = agent_of(program)
    programs.installed_program(HOST, root, agent)
    binary = look_at(str(program))
    assert binary is not None
    (kept,) = Path(root.programs).glob("*.json")
    then = os.stat(kept).st_mtime
    assert read_program(root.programs, binary, agent.asked_for_help, then + KEPT_FOR_SECS + 1) is None
    for damage in ("", "{", "[]", '{"path": 3}', kept.read_text().replace('"options": {', '"options": {"": 3, "x": {')):
        kept.write_text(damage)
        assert programs.known_program(HOST, root, agent) is None
    assert programs.installed_program(HOST, root, agent).version == "1.2.3"


@pytest.mark.lesson(42, "the installed program is asked for its options, and started without what it does not know")
def test_what_the_program_does_not_know_is_left_out_and_told(tmp_path: Path) -> None:
    program, root = make_program(tmp_path / "mytool"), Root(str(tmp_path))
    agent = agent_of(program)
    order = LaunchOrder("w", "/w", "/r", "/h", "/s", program=programs.installed_program(HOST, root, agent))
    launch = agent.launch(order)
    assert launch.argv == (str(program), "--new")
    assert launch.left_out == ("--old (the past)",)
    assert agent.launch(replace(order, program=InstalledProgram())).argv == (str(program), "--new", "--old")


def test_a_program_that_does_not_answer_is_not_waited_for_twice(tmp_path: Path) -> None:
    program = make_program(tmp_path / "mytool", PROGRAM.replace('case "$*"', 'sleep 1000; case "$*"'))
    root, agent = Root(str(tmp_path)), agent_of(program)
    for _ in range(2):
        assert programs.installed_program(HOST, root, agent, within=3.0).knows("--old")
    assert len(asked(program)) == 3


def test_a_program_that_is_not_there_or_fails_is_taken_to_know_everything(tmp_path: Path) -> None:
    root = Root(str(tmp_path))
    assert programs.installed_program(HOST, root, agent_of(tmp_path / "none")) == InstalledProgram()
    broken = make_program(tmp_path / "broken", "#!/bin/sh\nprintf ' --one\\n --two\\n'\nexit 3\n")
    assert programs.installed_program(HOST, root, agent_of(broken)) == InstalledProgram()


def test_agents_that_come_along_are_not_asked(tmp_path: Path) -> None:
    assert programs.installed_program(HOST, Root(str(tmp_path)), BUILT_IN["demo"]()) == InstalledProgram()
    assert not Path(Root(str(tmp_path)).programs).exists()
