"""What it costs to ask for the status: against the bare interpreter, with many workers in the state."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from bench.measure import COLUMNS, Timing, program, take_turns
from bench.report import Table, Verdict
from bench.state_updates import make_state
from llmc.store.config_file import default_config_text
from llmc.store.state_file import StateFile

WORKERS = 100
FLOOR = "python -c pass"
STATUS = f"llmc status, {WORKERS} workers"
LIMIT = 2.5


def measure(rounds: int = 40) -> list[Table]:
    timings = _timings(rounds)
    status = next(timing for timing in timings if timing.name == STATUS)
    verdict = Verdict("llmc status", status.ratio, LIMIT, "x bare Python")
    return [Table("Start-up, wall time", COLUMNS, [timing.row for timing in timings], (verdict,))]


def _timings(rounds: int) -> list[Timing]:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        (root / ".worktrees").mkdir()
        (root / "config.toml").write_text(default_config_text("/srv/repository", "main"))
        StateFile(root).create(make_state(WORKERS))
        env = {**os.environ, "LLMC_ROOT": directory}
        llmc = str(Path(sys.executable).with_name("llmc"))
        actions = {
            FLOOR: program(sys.executable, "-c", "pass", env=env),
            STATUS: program(llmc, "status", env=env),
            f"{STATUS}, --short": program(llmc, "status", "--short", env=env),
            f"{STATUS}, --json": program(llmc, "status", "--json", env=env),
            "llmc --help": program(llmc, "--help", env=env),
        }
        return take_turns(actions, floor=FLOOR, rounds=rounds)
