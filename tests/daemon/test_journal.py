from __future__ import annotations

import json
from pathlib import Path

from llmc.daemon.journal import Journal
from llmc.store.worker_log import WorkerLog


def lines(directory: Path) -> list[str]:
    return [json.loads(line)["text"] for line in (directory / "daemon.log").read_text().splitlines()]


def test_what_is_not_mended_is_said_once(tmp_path: Path) -> None:
    journal = Journal(WorkerLog(tmp_path))
    for text in ("no space", "no space", "no tmux", "no space"):
        journal.complain("adam", text)
    journal.settled("adam")
    journal.complain("adam", "no space")
    assert lines(tmp_path) == ["no space", "no tmux", "no space", "no space"]


def test_the_log_of_the_daemon_is_bounded(tmp_path: Path) -> None:
    journal = Journal(WorkerLog(tmp_path, max_bytes=1_000, keep=2))
    for number in range(500):
        journal.note(f"note {number}")
    kept = sorted(tmp_path.iterdir())
    assert [path.name for path in kept] == ["daemon.log", "daemon.log.1", "daemon.log.2"]
    assert all(path.stat().st_size < 1_200 for path in kept)
