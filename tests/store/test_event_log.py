from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from llmc.store.event_log import MIGRATIONS, EventLog, EventLogError, LoggedEvent

APPEND = """
import sys
from llmc.store.event_log import EventLog, LoggedEvent
path, worker, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
log = EventLog(path, warn=lambda text: print(text, file=sys.stderr), busy_seconds=60)
for number in range(times):
    assert log.append(LoggedEvent(float(number), worker, "moved"))
"""


def event(worker: str = "adam", at: float = 1.0, **fields) -> LoggedEvent:
    return LoggedEvent(at, worker, "moved", **fields)


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def log(tmp_path: Path, warnings: list[str]) -> Iterator[EventLog]:
    with EventLog(tmp_path / "status.db", warn=warnings.append, busy_seconds=0.05) as log:
        yield log


def test_what_is_written_is_read(log: EventLog) -> None:
    full = LoggedEvent(
        1.5, "adam", "CommitSeen", "git", "working", "needs_review", "up", "down", "new", {"sha": [1, None]}
    )
    assert log.append(full)
    assert log.recent() == [LoggedEvent(**{name: getattr(full, name) for name in full.__slots__ if name != "id"}, id=1)]


def test_a_log_that_was_never_written_is_empty(log: EventLog) -> None:
    assert log.recent() == []
    assert not log.path.exists()
    log.path.touch()
    assert log.recent() == []


def test_the_last_events_come_oldest_first(log: EventLog) -> None:
    assert log.append(*(event("adam" if number % 2 else "baker", float(number)) for number in range(10)))
    assert [found.at_unix for found in log.recent(limit=3)] == [7, 8, 9]
    assert [found.at_unix for found in log.recent("baker", limit=3)] == [4, 6, 8]
    assert log.recent("charlie") == []


def test_a_follower_misses_nothing_however_many_came(log: EventLog) -> None:
    log.append(*(event(at=float(number)) for number in range(25)))
    seen: list[LoggedEvent] = []
    after = 5
    while batch := log.recent(limit=7, after_id=after):
        seen += batch
        after = batch[-1].id
    assert [found.id for found in seen] == list(range(6, 26))


def test_a_follower_notices_a_log_begun_anew(log: EventLog) -> None:
    log.append(event(), event(), event())
    log.path.unlink()
    log.append(event(at=9.0))
    assert [found.at_unix for found in log.recent(after_id=3)] == [9.0]


def test_pruning_forgets_the_oldest(log: EventLog) -> None:
    log.append(*(event() for _ in range(10)))
    assert log.prune(4)
    assert [found.id for found in log.recent()] == [7, 8, 9, 10]
    assert log.prune(100)
    log.append(event())
    assert [found.id for found in log.recent()] == [7, 8, 9, 10, 11]


def test_all_of_a_batch_or_none(log: EventLog, warnings: list[str]) -> None:
    assert not log.append(event(), LoggedEvent(object(), "adam", "moved"))  # type: ignore[arg-type]
    assert log.recent() == []
    assert "not written" in warnings[0]


def test_texts_of_any_bytes_are_taken(log: EventLog) -> None:
    name = os.fsdecode(b"\xff.txt")
    assert log.append(event(detail=f"{name} \0 😀", data={"file": name}))
    found = log.recent()[0]
    assert found.detail == "\\udcff.txt \0 😀"
    assert found.data == {"file": name}


def test_the_files_are_private(log: EventLog) -> None:
    log.append(event())
    files = list(log.path.parent.iterdir())
    assert log.path in files
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_a_locked_log_is_reported_and_does_not_raise(log: EventLog, warnings: list[str]) -> None:
    log.append(event())
    other = sqlite3.connect(log.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert not log.append(event())
    assert warnings == ["status.db was not written: database is locked"]
    assert len(log.recent()) == 1
    other.close()
    assert log.append(event())


def test_a_reader_is_not_disturbed_by_a_writer_in_the_middle(log: EventLog) -> None:
    log.append(event())
    writer = sqlite3.connect(log.path, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    writer.execute("DELETE FROM events")
    assert len(EventLog(log.path, busy_seconds=0).recent()) == 1
    writer.execute("COMMIT")
    writer.close()
    assert log.recent() == []


def test_reading_writes_nothing_into_the_log(log: EventLog) -> None:
    log.append(event())
    log.close()
    before = log.path.read_bytes()
    assert len(log.recent()) == 1
    assert log.path.read_bytes() == before


@pytest.mark.parametrize("damage", ["not a database", "a page"])
def test_a_damaged_log_is_kept_aside_and_begun_anew(log: EventLog, warnings: list[str], damage: str) -> None:
    log.append(*(event(detail="x" * 500) for _ in range(200)))
    log.close()
    content = bytearray(log.path.read_bytes())
    content[0 if damage == "not a database" else 4096 :] = os.urandom(20_000)
    log.path.write_bytes(content)
    with pytest.raises(EventLogError) as caught:
        log.recent()
    assert "begun anew" in caught.value.hint
    assert log.append(event(at=7.0))
    assert [found.at_unix for found in log.recent()] == [7.0]
    aside = list(log.path.parent.glob("status.db.corrupt-*[0-9]"))
    assert [file.read_bytes() for file in aside] == [content]
    assert len(warnings) == 1
    assert aside[0].name in warnings[0]


def test_a_log_that_was_replaced_by_another_process_is_noticed(log: EventLog) -> None:
    log.append(event())
    log.path.rename(log.path.with_name("elsewhere"))
    assert log.append(event(at=2.0))
    assert [found.at_unix for found in log.recent()] == [2.0]


def test_several_processes_meet_the_same_damage(log: EventLog) -> None:
    log.path.write_bytes(b"garbage" * 1000)
    run_together(log.path, 4, 20)
    assert len(log.recent(limit=1000)) == 80
    assert len(list(log.path.parent.glob("status.db.corrupt-*[0-9]"))) == 1


def test_several_processes_write_at_once_from_the_first_moment(log: EventLog) -> None:
    run_together(log.path, 6, 50)
    found = log.recent(limit=1000)
    assert len(found) == 300
    assert [one.at_unix for one in found if one.worker == "w3"] == [float(number) for number in range(50)]


def test_several_threads_write_at_once(log: EventLog) -> None:
    with ThreadPoolExecutor(4) as threads:
        written = list(threads.map(lambda number: log.append(event(at=float(number))), range(80)))
    assert written == [True] * 80
    assert sorted(found.at_unix for found in log.recent()) == [float(number) for number in range(80)]


def run_together(path: Path, processes: int, times: int) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", APPEND, str(path), f"w{number}", str(times)], stderr=subprocess.PIPE)
        for number in range(processes)
    ]
    errors = [process.communicate()[1].decode() for process in running]
    assert [process.returncode for process in running] == [0] * processes, errors


def test_a_writer_killed_at_any_moment_leaves_a_readable_log(log: EventLog) -> None:
    for _ in range(5):
        count = len(log.recent(limit=1_000_000))
        writer = subprocess.Popen([sys.executable, "-c", APPEND, str(log.path), "adam", "1000000"])
        deadline = time.monotonic() + 60
        while len(log.recent(limit=1_000_000)) <= count:
            assert time.monotonic() < deadline
        writer.kill()
        writer.wait()
    assert log.append(event("last"))
    assert log.recent()[-1].worker == "last"


def test_a_newer_log_is_left_alone(log: EventLog, warnings: list[str]) -> None:
    log.append(event())
    log.close()
    with sqlite3.connect(log.path) as database:
        database.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    database.close()
    assert not log.append(event())
    assert "newer llmc" in warnings[0]
    with pytest.raises(EventLogError) as caught:
        log.recent()
    assert "upgrade" in caught.value.hint


def test_a_place_that_cannot_be_written_is_reported(tmp_path: Path, warnings: list[str]) -> None:
    (tmp_path / "a-file").touch()
    (tmp_path / "status.db").mkdir()
    for place in (tmp_path / "status.db", tmp_path / "a-file" / "status.db"):
        assert not EventLog(place, warn=warnings.append).append(event())
    assert [text.startswith("status.db was not written: ") for text in warnings] == [True, True]
