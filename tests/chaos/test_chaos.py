"""A minute of disasters with fixed seeds: nothing is lost. `make chaos` goes on for longer."""

from __future__ import annotations

import subprocess
import sys

import pytest

from testing.namespace import PROJECT


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost(seed: int) -> None:
    argv = [sys.executable, "-m", "testing.chaos", "--seed", str(seed), "--seconds", "30", "--workers", "5"]
    done = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lost: zero" in done.stdout
