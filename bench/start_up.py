"""What it costs to ask for the status: against the bare interpreter, with many workers in the state."""

from __future__ import annotations

import json
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
PTY = f"llmc pty status --short, {WORKERS} terminals"
LIMIT = 2.5


def measure(rounds: int = 40) -> list[Table]:
    timings = _timings(rounds)
    verdicts = tuple(
        Verdict(timing.name, timing.ratio, LIMIT, "x bare Python") for timing in timings if timing.name in (STATUS, PTY)
    )
    return [Table("Start-up, wall time", COLUMNS, [timing.row for timing in timings], verdicts)]


def _timings(rounds: int) -> list[Timing]:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        (root / ".worktrees").mkdir()
        (root / "config.toml").write_text(default_config_text("/srv/repository", "main"))
        StateFile(root).create(make_state(WORKERS))
        make_statuses(root, WORKERS)
        env = {**os.environ, "LLMC_ROOT": directory}
        llmc = str(Path(sys.executable).with_name("llmc"))
        actions = {
            FLOOR: program(sys.executable, "-c", "pass", env=env),
            STATUS: program(llmc, "status", env=env),
            f"{STATUS}, --short": program(llmc, "status", "--short", env=env),
            f"{STATUS}, --json": program(llmc, "status", "--json", env=env),
            PTY: program(llmc, "pty", "status", "--short", env=env),
            "llmc --help": program(llmc, "--help", env=env),
        }
        return take_turns(actions, floor=FLOOR, rounds=rounds)


def make_statuses(root: Path, count: int) -> None:
    """The cache of that many terminals, as a watcher leaves it."""
    for number in range(count):
        directory = root / ".workers" / f"t{number}"
        directory.mkdir(parents=True)
        (directory / "terminal.json").write_text("{}")
        status = {"id": f"t{number}", "state": "READY", "summary": "the shell waits at its prompt", "since_unix": 1.0}
        (directory / "status.json").write_text(json.dumps(status))
