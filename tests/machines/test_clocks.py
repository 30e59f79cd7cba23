"""Clocks that differ from machine to machine."""

from __future__ import annotations

import time

import pytest

from testing.machines.at_hub import hub_with
from testing.machines.three import Machines

HOUR_SECS = 3600.0


@pytest.mark.failure_case("clocks that differ")
def test_ages_come_from_the_machines_own_clocks(machines: Machines) -> None:
    """Two hours ahead and three behind: what each tells is moved to the hub's clock, and the two are never compared.

    Reports of agents bear the time of the kernel, which is the same for all machines here.
    """
    machines["m1"].move_clock(2 * HOUR_SECS)
    machines["m2"].move_clock(-3 * HOUR_SECS)
    with hub_with(machines, "m1", "m2") as hub:
        for worker, machine in (("ahead", "m1"), ("behind", "m2")):
            hub.seat(worker, machine)
            hub.work(worker, worker)
            shown = hub.worker(worker)
            assert abs(shown["created_at_unix"] - time.time()) < HOUR_SECS / 2
            assert abs(shown["last_activity_unix"] - time.time()) < HOUR_SECS / 2
            hub.run("accept", worker)
        assert hub.subjects() == ["first", "Add ahead", "Add behind"]
