from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from llmc.store.worker_log import WorkerLog

APPEND = """
import sys
from llmc.store.worker_log import WorkerLog
log = WorkerLog(sys.argv[1], max_bytes=int(sys.argv[4]), keep=50)
for number in range(int(sys.argv[3])):
    assert log.append("adam", {"from": sys.argv[2], "number": number, "pad": "x" * (number % 300)})
"""


@pytest.fixture
def log(tmp_path: Path) -> WorkerLog:
    return WorkerLog(tmp_path / "logs", max_bytes=100, keep=3)


def numbers(lines: list[str]) -> list[int]:
    return [json.loads(line)["number"] for line in lines]


def write(log: WorkerLog, *of: int) -> None:
    for number in of:
        assert log.append("adam", {"number": number})


def files(log: WorkerLog) -> list[str]:
    return sorted(path.name for path in log.directory.glob("adam*"))


def test_what_is_written_can_be_read(log: WorkerLog) -> None:
    assert log.append("adam", {"text": "two\nlines 😀 \udcff", "list": [1, None]})
    (line,) = log.tail("adam", 10)
    assert json.loads(line) == {"text": "two\nlines 😀 \udcff", "list": [1, None]}


def test_a_log_that_was_never_written_is_empty(log: WorkerLog) -> None:
    assert log.tail("adam", 10) == []
    assert not log.directory.exists()


def test_the_files_are_private(log: WorkerLog) -> None:
    write(log, 1)
    assert log.directory.stat().st_mode & 0o777 == 0o700
    assert (log.directory / "adam.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["", "..", ".x", "a/b"])
def test_a_name_that_leads_elsewhere_is_a_bug(log: WorkerLog, name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name"):
        log.append(name, {})


def test_a_full_file_is_rotated_and_only_so_many_are_kept(log: WorkerLog) -> None:
    write(log, *range(100))
    assert files(log) == ["adam.log", "adam.log.1", "adam.log.2", "adam.log.3"]
    assert all(path.stat().st_size < 130 for path in log.directory.glob("adam*"))
    kept = numbers(log.tail("adam", 1000))
    assert kept == list(range(kept[0], 100))
    assert kept[0] > 50


@pytest.mark.parametrize("lines", [0, 1, 2, 7, 10])
def test_the_last_lines_come_from_older_files_too(log: WorkerLog, lines: int) -> None:
    write(log, *range(20))
    assert numbers(log.tail("adam", lines)) == list(range(20 - lines, 20))


def test_workers_have_files_of_their_own(log: WorkerLog) -> None:
    write(log, 1)
    log.append("baker", {"number": 2})
    assert numbers(log.tail("adam", 5)) == [1]
    assert numbers(log.tail("baker", 5)) == [2]


def test_a_line_that_was_cut_short_does_not_spoil_the_next(log: WorkerLog) -> None:
    write(log, 1)
    with open(log.directory / "adam.log", "a") as file:
        file.write('{"number": ')
    write(log, 2)
    lines = log.tail("adam", 5)
    assert len(lines) == 3
    assert numbers([lines[0], lines[2]]) == [1, 2]


def test_a_disk_that_refuses_is_reported(tmp_path: Path) -> None:
    script = f"""
import resource, sys
from llmc.store.worker_log import WorkerLog
resource.setrlimit(resource.RLIMIT_FSIZE, (50, {resource.RLIM_INFINITY}))
log = WorkerLog(sys.argv[1], warn=print)
print(log.append("adam", {{"text": "x" * 100}}))
print(log.append("adam", {{"text": "x" * 100}}))
"""
    said = subprocess.check_output([sys.executable, "-c", script, tmp_path], text=True).splitlines()
    assert said[1::2] == ["False", "False"]
    assert all(line.startswith("the log of adam was not written: ") for line in said[0::2])


# Following


def follow(log: WorkerLog, steps: list[Callable[[], object]], *, lines: int = 0) -> Iterator[int]:
    """Does one step at each wait, and ends after the last."""
    todo = iter(steps)

    def wait() -> bool:
        step = next(todo, None)
        if step is not None:
            step()
        return step is not None

    return (json.loads(line)["number"] for line in log.follow("adam", wait, lines=lines))


def test_only_what_is_new_is_followed(log: WorkerLog) -> None:
    write(log, 1, 2)
    assert list(follow(log, [lambda: write(log, 3), lambda: None, lambda: write(log, 4, 5)])) == [3, 4, 5]


def test_following_can_begin_with_the_last_lines(log: WorkerLog) -> None:
    write(log, *range(9))
    assert list(follow(log, [lambda: write(log, 9)], lines=8)) == list(range(1, 10))


def test_a_log_that_begins_later_is_followed(log: WorkerLog) -> None:
    assert list(follow(log, [lambda: None, lambda: write(log, 1, 2)], lines=5)) == [1, 2]


def test_half_a_line_waits_for_its_other_half(log: WorkerLog) -> None:
    write(log, 1)

    def add(text: str) -> None:
        with open(log.directory / "adam.log", "a") as file:
            file.write(text)

    assert list(follow(log, [lambda: add('{"num'), lambda: add('ber": 2}\n{"number": 3}\n')])) == [2, 3]


@pytest.mark.parametrize("burst", [1, 3, 5, 9, 15])
def test_rotation_loses_no_line_of_a_follower(log: WorkerLog, burst: int) -> None:
    write(log, 0)
    steps = [lambda first=first: write(log, *range(first, first + burst)) for first in range(1, 60, burst)]
    assert list(follow(log, steps)) == list(range(1, 1 + burst * len(steps)))


def test_a_follower_left_far_behind_goes_on_with_what_is_kept(log: WorkerLog) -> None:
    write(log, 0)
    seen = list(follow(log, [lambda: write(log, *range(1, 100)), lambda: write(log, 100)]))
    kept = numbers(log.tail("adam", 1000))
    assert seen == sorted(set(seen))
    assert seen[-len(kept) :] == kept


def test_a_removed_log_is_followed_from_its_new_beginning(log: WorkerLog) -> None:
    write(log, *range(5))
    gone = (log.directory / "adam.log").unlink
    assert list(follow(log, [gone, lambda: None, lambda: write(log, 5), lambda: write(log, 6)])) == [5, 6]


def test_an_emptied_log_is_followed_from_its_beginning(log: WorkerLog) -> None:
    write(log, 1, 2)
    path = log.directory / "adam.log"
    steps = [lambda: path.write_text("x" * 40), lambda: path.write_text(""), lambda: write(log, 3)]
    assert list(follow(log, steps)) == [3]


def test_several_processes_mix_no_lines_and_a_follower_sees_all(tmp_path: Path) -> None:
    def start(name: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", APPEND, str(tmp_path), name, "300", "20000"])

    log = WorkerLog(tmp_path, max_bytes=20_000, keep=50)
    log.append("adam", {"from": "x", "number": 0})
    writers: list[subprocess.Popen[bytes]] = []
    ended: list[bool] = []

    def wait() -> bool:
        if not writers:
            writers.extend(start(name) for name in "abcd")
        ended.append(all(writer.poll() is not None for writer in writers))
        return ended[-2:] != [True, True]

    seen = [json.loads(line) for line in log.follow("adam", wait)]
    assert [writer.wait() for writer in writers] == [0] * 4
    for name in "abcd":
        assert [entry["number"] for entry in seen if entry["from"] == name] == list(range(300))
    assert len(log.tail("adam", 5000)) == 1201
    assert (tmp_path / "adam.log.3").exists()
