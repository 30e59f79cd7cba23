"""A git that dies under a command: nothing is lost, and typing it again is enough. `make kills` tries every one."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from testing.kills.cases import CASES
from testing.kills.trial import Bench, sample

SEED = int(os.environ.get("LLMC_KILLS_SEED", "1"))


@pytest.mark.lesson(38, "an intention is saved before its effect, and an effect can be repeated")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.timeout(300)
def test_a_git_that_is_killed_does_no_harm(name: str, tmp_path: Path) -> None:
    bench = Bench(CASES[name], tmp_path)
    for kill in sample(bench.calls(), random.Random(f"{name} {SEED}")):
        assert bench.complaints(kill) == [], f"python -m testing.kills --command {name} {kill}"
