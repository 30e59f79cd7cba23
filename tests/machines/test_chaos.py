"""Half a minute of failures between a hub and three machines, by a fixed seed: nothing is lost, nothing happens twice.

`make machines-chaos` goes on for longer.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from testing.namespace import PROJECT


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("_all_machines")
def test_nothing_is_lost_or_done_twice() -> None:
    """On machines of its own: the fixture says whether there can be any."""
    argv = [sys.executable, "-m", "testing.machines.chaos", "--seed", "1", "--seconds", "30", "--workers", "3"]
    done = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for kind in ("lost", "delivered twice", "run twice"):
        assert f"\n{kind}: 0\n" in done.stdout
