"""A git that dies under a command: nothing is lost, and typing it again is enough. `make kills` tries every one."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from testing.killed_git import Moment
from testing.kills.cases import CASES
from testing.kills.trial import Bench, Kill, sample

SEED = int(os.environ.get("LLMC_KILLS_SEED", "1"))


@pytest.mark.lesson(38, "an intention is saved before its effect, and an effect can be repeated")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.timeout(300)
def test_a_git_that_is_killed_does_no_harm(name: str, tmp_path: Path) -> None:
    bench = Bench(CASES[name], tmp_path)
    for kill in sample(bench.calls(), random.Random(f"{name} {SEED}")):
        assert bench.complaints(kill) == [], f"python -m testing.kills --command {name} {kill}"


# The user's files; the worktree that is shown to the checks; the rebase that nobody goes on with; the way back.
ONCE_HARMFUL = [
    ("accept", Kill("merge", Moment.MIDDLE)),
    ("accept", Kill("merge", Moment.MIDDLE, changes=12)),
    ("accept", Kill("checkout", Moment.MIDDLE, changes=5)),
    ("rebase", Kill("rebase", Moment.CUT, changes=5)),
    ("undo", Kill("clean", Moment.START)),
    ("reset", Kill("add", Moment.CUT)),
]


@pytest.mark.parametrize(("name", "kill"), ONCE_HARMFUL, ids=str)
def test_a_kill_that_once_did_harm(name: str, kill: Kill, tmp_path: Path) -> None:
    assert Bench(CASES[name], tmp_path).complaints(kill) == []
