"""A machine that loses its power in the middle of a task."""

from __future__ import annotations

import time

import pytest

from testing.machines.at_hub import Errands, hub_with, job, root_on
from testing.machines.three import Machines
from testing.waiting import wait_until


@pytest.mark.failure_case("a half-open connection")
@pytest.mark.failure_case("the machine is killed")
def test_a_machine_is_killed_and_nothing_waits_for_it(machines: Machines) -> None:
    """Every process of it ends in the middle of a task: nobody else gets the task, and what was written is there."""
    with hub_with(machines, "m1", "m2") as hub:
        m1 = machines["m1"]
        hub.seat("killed", "m1")
        hub.seat("spare", "m2")
        hub.run("start", "--worker", "killed", "--prompt", job("killed", "write half.txt half", "sleep 600"))
        worktree = root_on(m1) / ".worktrees" / "killed"
        wait_until((worktree / "half.txt").exists, 60.0)
        m1.kill()
        began = time.monotonic()
        lines = [("status",), ("machine", "list"), ("peek", "killed"), ("message", "killed", "hello")]
        said = Errands(hub, lines).ended()
        assert time.monotonic() - began < 100.0
        assert {each.code for each in said} <= {0, 1, 4}
        hub.wait_for_machine("m1", "unreachable")
        assert hub.worker("killed")["status"] == "unreachable"
        (task,) = [each for each in hub.tasks() if "half.txt" in each["text"]]
        assert (task["state"], task["worker"]) == ("assigned", "killed")

        m1.boot()
        hub.check_machine("m1")
        assert (worktree / "half.txt").read_text() == "half\n"
        hub.until(
            lambda: hub.worker("killed")["session"] == "up" and hub.worker("killed")["attention"]["state"] == "READY"
        )
        assert hub.worker("killed")["task"] == task["id"]
        hub.run("message", "killed", job("anew"))
        hub.wait_for("killed", status="needs_review")
        hub.run("accept", "killed")
        assert hub.heard("half.txt") == 1
        assert hub.subjects()[-1] == "Add anew"
