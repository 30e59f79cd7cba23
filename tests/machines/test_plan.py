"""A short plan over three machines, one worker on the real Claude Code. `make machines-plan` has twenty tasks."""

from __future__ import annotations

import os

import pytest

from testing.machines.plan_run import has_claude, run_plan
from testing.machines.three import Machines

AGENTS_REQUIRED = os.environ.get("LLMC_REQUIRE_AGENTS") == "1"
TASKS, WORKERS = 5, 3


def with_claude() -> bool:
    if AGENTS_REQUIRED and not has_claude():
        pytest.fail("claude is not installed: run `make agents` (LLMC_REQUIRE_AGENTS=1)")
    return has_claude()


def test_a_plan_lands_over_ssh_as_one_commit_for_each_task(machines: Machines) -> None:
    assert run_plan(machines, "ssh", TASKS, WORKERS, claude=with_claude()) == []


@pytest.mark.usefixtures("slurm")
def test_a_plan_lands_on_allocations_of_slurm(machines: Machines) -> None:
    assert run_plan(machines, "slurm", TASKS, WORKERS, claude=False) == []
