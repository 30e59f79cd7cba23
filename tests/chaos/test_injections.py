"""A loss of each kind, made behind LLMC's back: the account of the chaos run tells of it."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator

import pytest

from testing.chaos.account import losses_at_rest, losses_of_things
from testing.chaos.injections import INJECTIONS
from testing.chaos.people import say_something
from testing.chaos.rest import come_to_rest
from testing.chaos.tricks import set_traps
from testing.chaos.world import World
from testing.namespace import PROJECT


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Two workers with a prompt or two each, and nothing lost."""
    base = tmp_path_factory.mktemp("chaos")
    (base / "disk").mkdir()
    world = World(base / "disk", base, random.Random(1), ("worker01", "worker02"))
    with world.llmc:
        world.begin()
        set_traps(world)
        for name in (*world.workers, *world.workers):
            say_something(world, name)
        assert come_to_rest(world) == []
        assert list(losses_at_rest(world)) == []
        yield world


@pytest.mark.parametrize("kind", INJECTIONS)
def test_a_loss_is_told(world: World, kind: str) -> None:
    before = set(losses_of_things(world))
    lost = INJECTIONS[kind](world)
    told = set(losses_of_things(world)) - before
    assert any(lost in loss for loss in told), (lost, told)


@pytest.mark.timeout(300)
def test_a_run_with_a_loss_fails_and_names_it() -> None:
    words = ("--seed", "1", "--seconds", "3", "--workers", "2", "--inject", "users-file")
    argv = [sys.executable, "-m", "testing.chaos", *words]
    done = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    (told,) = [line for line in done.stdout.splitlines() if line.startswith("lost on purpose: ")]
    assert f"  {told.removeprefix('lost on purpose: ')} is lost" in done.stdout
