"""What cannot be a machine: one clear error, and nothing half made, neither here nor there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from testing.commands import listing, wrong_about
from testing.machines.plan import LOCKED, STRANGER
from testing.machines.three import Hub, Machine, Machines
from testing.story import script

OLD = "#!/bin/sh\necho llmc 0.0.1\n"


@contextmanager
def without_tmux(machine: Machine) -> Iterator[None]:
    machine.run("mv", "/usr/bin/tmux", "/usr/bin/no-tmux")
    yield
    machine.run("mv", "/usr/bin/no-tmux", "/usr/bin/tmux")


@contextmanager
def small_disk(machine: Machine, place: str) -> Iterator[None]:
    machine.run("mkdir", place)
    machine.run("mount", "-t", "tmpfs", "-o", "size=100k", "none", place)
    yield
    assert machine.run("ls", place).out == ""
    machine.run("umount", place)


def test_what_cannot_be_a_machine_is_told_and_leaves_nothing(machines: Machines, hub: Hub) -> None:
    m1 = machines["m1"]
    m1.seen("old").write_text(OLD)
    m1.seen("old").chmod(0o755)
    m1.run("mkdir", "-m", "700", "mine")
    before, there = _made_here(hub), m1.run("find", ".").out

    def refused(*words: str) -> str:
        said = hub.run("machine", "add", "box", *words, check=False)
        assert wrong_about(said) == []
        assert _made_here(hub) == before, words
        assert m1.run("find", ".").out == there, words
        return said.err

    assert "gone" in refused("--ssh", "gone")
    assert "without asking" in refused("--ssh", f"{LOCKED}@m1")
    assert "0.0.1" in refused("--ssh", "m1", "--program", "~/old")
    assert "no llmc" in refused("--ssh", "m1", "--program", "~/nothing")
    assert "Permission denied" in refused("--ssh", f"{STRANGER}@m1", "--home", f"{m1.home}/mine/llmc")
    with without_tmux(m1):
        assert "no tmux" in refused("--ssh", "m1")
    with small_disk(m1, "/srv/small"):
        assert "no space left" in refused("--ssh", "m1", "--home", "/srv/small/llmc")
    assert "no-such-program" in refused("--command", "no-such-program")
    refused("--ssh", "m1", "--command", "sh -c")


@pytest.mark.failure_case("a login shell that prints something")
def test_a_machine_that_greets_whoever_logs_in_is_as_good_as_any(machines: Machines, hub: Hub) -> None:
    machines["m1"].greet("Welcome to m1, {json: 1}")
    hub.run("machine", "add", "m1", "--ssh", "m1")
    assert "ok" in hub.run("machine", "list").out
    said = hub.run("add", "adam", "--machine", "nobody-has-this", check=False)
    assert wrong_about(said) == []
    assert "there are: m1" in said.err
    hub.run("add", "adam", "--machine", "m1", "--agent", "demo")
    hub.run("start", "--worker", "adam", "--prompt", script("write a.txt a", "commit Add a"), "--wait")
    hub.run("accept", "adam")
    assert hub.git("log", "--format=%s").splitlines() == ["Add a", "first"]


def _made_here(hub: Hub) -> dict[str, str]:
    made = listing(hub.root)
    return {
        name: seen for name, seen in made.items() if name != "machines.json" and not name.startswith(("run", "logs"))
    }
