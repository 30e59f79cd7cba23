"""An allocation of Slurm as a machine, on a real cluster of three nodes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from testing.machines.at_hub import LOOKS_EVERY_SECS
from testing.machines.three import Hub, Machines
from testing.story import script
from testing.waiting import wait_until

FLAGS = "--partition=cpu --time=30"


def state_of(hub: Hub, name: str) -> dict[str, Any]:
    told = json.loads(hub.run("machine", "list", "--json").out)["machines"]
    return next(each for each in told if each["name"] == name)


def job_of(hub: Hub, machines: Machines) -> str:
    return machines.run("squeue", "-h", "-o", "%A", "--states=R").out.strip()


@pytest.mark.failure_case("an allocation that ends")
@pytest.mark.failure_case("an allocation that is cancelled")
@pytest.mark.usefixtures("slurm")
def test_work_of_an_allocation_lands_and_its_end_loses_nothing(machines: Machines, hub: Hub) -> None:
    home = machines.place / "shared" / "llmc"
    hub.run("machine", "add", "big", "--slurm", FLAGS, "--home", str(home), "--labels", "cpu")
    hub.run("add", "adam", "--machine", "big", "--agent", "demo")
    hub.run("start", "--worker", "adam", "--prompt", script("write a.txt one", "commit Add a"), "--wait")
    hub.run("review", "adam")
    hub.run("accept", "adam")
    assert hub.git("log", "--format=%s").splitlines() == ["Add a", "first"]
    job = job_of(hub, machines)

    hub.run("up", "--detach")
    wait_until(lambda: state_of(hub, "big")["state"] == "ok", 60)
    hub.run("start", "--worker", "adam", "--prompt", script("write b.txt two", "sleep 600"))
    wait_until(lambda: (home / "root/.worktrees/adam/b.txt").exists())
    machines.run("scancel", "--batch", "--signal=USR1", job)
    wait_until(lambda: "needs_input" in hub.run("status", "--json").out, 60, LOOKS_EVERY_SECS)
    assert state_of(hub, "big")["state"] == "ended"
    wait_until(lambda: "b.txt" in kept_here(hub), 60, LOOKS_EVERY_SECS)

    machines.run("scancel", job)
    wait_until(lambda: job_of(hub, machines) == "")
    wait_until(lambda: state_of(hub, "big")["state"] == "ended", 150, LOOKS_EVERY_SECS)
    hub.run("machine", "check", "big")
    assert job_of(hub, machines) not in ("", job)
    wait_until(lambda: state_of(hub, "big")["state"] == "ok", 60, LOOKS_EVERY_SECS)
    assert (home / "root/.worktrees/adam/b.txt").read_text() == "two\n"


def kept_here(hub: Hub) -> str:
    """The files of all backups that the hub itself has."""
    git = ("git", "--git-dir", str(hub.root / ".git"))
    refs = hub.bed.run(*git, "for-each-ref", "--format=%(refname)", "refs/llmc/backup").out.split()
    return "".join(hub.bed.run(*git, "ls-tree", "-r", "--name-only", ref).out for ref in refs)


@pytest.mark.usefixtures("slurm")
def test_what_slurm_refuses_is_told_and_a_root_on_a_node_is_warned_of(machines: Machines, hub: Hub) -> None:
    said = hub.run("machine", "add", "big", "--slurm", "--partition=none", check=False)
    assert "Invalid partition" in said.err
    said = hub.run("machine", "add", "big", "--slurm", f"{FLAGS} --cpus-per-task=999", check=False)
    assert (said.code, "no room for such an allocation" in said.err) == (1, True)
    said = hub.run("machine", "add", "big", "--slurm", FLAGS, "--program", "~/nothing", check=False)
    assert "no llmc" in said.err
    wait_until(lambda: machines.run("squeue", "-h").out == "")
    assert "what has not come here" in hub.run("machine", "add", "big", "--slurm", FLAGS).out
    hub.run("machine", "remove", "big", "--yes")
    wait_until(lambda: machines.run("squeue", "-h").out == "")
