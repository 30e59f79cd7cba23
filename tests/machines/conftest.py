"""Three machines for all tests of a process; each test gets them as after their first boot."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from testing.machines.slurm import slurm_on
from testing.machines.three import Hub, Machines, NoMachinesError, three_machines

REQUIRED = os.environ.get("LLMC_REQUIRE_MACHINES") == "1"


@pytest.fixture(scope="session")
def _all_machines() -> Iterator[Machines]:
    try:
        with three_machines() as machines:
            yield machines
    except NoMachinesError as why:
        _leave_out(why)


def _leave_out(why: NoMachinesError) -> NoReturn:
    if REQUIRED:
        pytest.fail(f"{why} (LLMC_REQUIRE_MACHINES=1)")
    pytest.skip(str(why))


@pytest.fixture
def hub(machines: Machines, tmp_path: Path) -> Iterator[Hub]:
    """With a repository and a root for it."""
    with Hub(tmp_path / "home", tmp_path / "root", bed=machines) as hub:
        hub.begin()
        yield hub


@pytest.fixture
def slurm(machines: Machines) -> Iterator[None]:
    """A cluster on the machines, which the hub submits to."""
    try:
        with slurm_on(machines) as settings:
            machines.more["SLURM_CONF"] = str(settings)
            yield
            del machines.more["SLURM_CONF"]
    except NoMachinesError as why:
        _leave_out(why)


@pytest.fixture
def machines(_all_machines: Machines) -> Iterator[Machines]:
    yield _all_machines
    _all_machines.tidy()
