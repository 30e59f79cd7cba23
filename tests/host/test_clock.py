from __future__ import annotations

import subprocess
import sys
import time

from llmc.core.lifecycle.clocks import moved_by
from llmc.host.clock import read_clock
from testing.moved_clock import CLOCK


def test_a_clock_that_runs_was_not_moved() -> None:
    first = read_clock()
    second = read_clock()
    assert second.up_secs >= first.up_secs
    assert (second.boot, moved_by(first, second)) == (first.boot, 0.0)
    assert abs(first.unix - time.time()) < 3600


def test_other_programs_of_the_machine_read_the_same(tmp_path) -> None:
    """But for the clock that somebody moves."""
    (tmp_path / "clock").write_text("-172800")
    script = "from llmc.host.clock import read_clock; c = read_clock(); print(c.unix, c.up_secs, c.boot)"
    path = f"{CLOCK}:{':'.join(sys.path)}"
    env = {"PYTHONPATH": path, "LLMC_CHAOS_CLOCK": str(tmp_path / "clock")}
    before = read_clock()
    said = subprocess.check_output([sys.executable, "-c", script], env=env, text=True).split()
    assert before.up_secs <= float(said[1]) <= read_clock().up_secs
    assert said[2:] == ([before.boot] if before.boot else [])
    assert float(said[0]) < before.unix - 86_400
