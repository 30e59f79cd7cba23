"""Forty seconds of disasters: nothing is lost. `make chaos` goes on for longer, with any seed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from testing.namespace import PROJECT


@pytest.mark.timeout(600)
def test_nothing_is_lost() -> None:
    argv = [sys.executable, "-m", "testing.chaos", "--seed", "1", "--seconds", "40", "--workers", "5"]
    done = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lost: zero" in done.stdout
