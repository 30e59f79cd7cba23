"""A dialog that nobody has ever seen, in front of a real CLI: told at once, answered by its words, then it is idle."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import testing.asks_first
from testing.real_agents import PROGRAMS, AgentRoot, agents, machine_for, make_empty_root
from testing.real_agents import real_agent as real_agent
from testing.real_clis import RealAgent
from testing.waiting import wait_until

TOLD_WITHIN_SECS = 60.0
"""Seconds on a quiet machine; this one may be busy."""
WRAPPER = """\
#!/bin/sh
case " $* " in *" --help "*|*" --version "*) exec {real} "$@" ;; esac
exec {python} {asks} plain {log} -- {real} "$@"
"""


@pytest.fixture
def asking_root(real_agent: RealAgent, tmp_path: Path) -> Iterator[AgentRoot]:
    """The program that is found first shows the dialog, and then becomes the real one."""
    real = next(place / real_agent.name for place in PROGRAMS if (place / real_agent.name).exists())
    wrapper = tmp_path / "programs" / real_agent.name
    wrapper.parent.mkdir()
    words = {"real": real, "python": sys.executable, "asks": testing.asks_first.__file__, "log": tmp_path / "keys"}
    wrapper.write_text(WRAPPER.format(**{name: shlex.quote(str(word)) for name, word in words.items()}))
    wrapper.chmod(0o755)
    with machine_for(real_agent, wrapper.parent) as machine:
        made = make_empty_root(machine, tmp_path)
        made.done("add", "w", "--agent", real_agent.name)
        yield made
        made.done("down", "--force")


@pytest.mark.lesson(41, "options are chosen by their words, and a dialog that nobody knows is a question at once")
@pytest.mark.timeout(300)
@agents("claude")
def test_it_is_told_with_its_options_and_answered(asking_root: AgentRoot) -> None:
    began = time.monotonic()
    said = asking_root.done("up", "--detach")
    assert "w: needs_input: asks: The moon is full tonight. Do you want to go on all the same?" in said
    assert time.monotonic() - began < TOLD_WITHIN_SECS
    wait_until(lambda: asking_root.status()["asked"]["id"], timeout=TOLD_WITHIN_SECS)
    worker = asking_root.status()
    assert worker["status"] == "needs_input"
    assert worker["asked"]["options"] == ["No, leave", "Yes, go ahead", "Always go ahead"]
    refused = asking_root.llmc("answer", "w", "7")
    assert (refused.code, "has no option 7" in refused.complaint) == (1, True)
    assert asking_root.llmc("answer", "w", "yes", "--dialog", "00000000").code == 1
    receipt = json.loads(asking_root.done("answer", "w", "yes", "--dialog", worker["asked"]["id"], "--json"))
    assert receipt["outcome"] == "delivered"
    wait_until(lambda: asking_root.status()["status"] == "idle", timeout=120)
