from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from llmc.host.files import DiskError
from llmc.host.locks import FileLock, LockTimeoutError, is_held, read_holder

HOLD = """
import sys
from llmc.host.locks import FileLock
sys.argv = ["llmc", "--root", "/srv/llmc", "accept", "a secret"]
with FileLock(sys.stdin.readline().strip()):
    print("held", flush=True)
    sys.stdin.readline()
print("released", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.lock"


class OtherProcess:
    """Holds the lock until it is told to let go, and stays."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._tell(str(path))
        self.expect("held")

    def _tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def expect(self, line: str) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == line

    def let_go(self) -> None:
        self._tell("")
        self.expect("released")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def other(path: Path):
    process = OtherProcess(path)
    yield process
    process.kill()
    process.process.communicate()


@pytest.mark.lesson(9, "one sender at a time for a terminal, across processes")
def test_whoever_waits_too_long_hears_who_has_it(path: Path, other: OtherProcess) -> None:
    with pytest.raises(LockTimeoutError) as caught:
        FileLock(path, name="the state", timeout=0.05).acquire()
    assert caught.value.what.startswith(f"the state is locked by pid {other.process.pid} (llmc accept) for ")
    assert f"kill {other.process.pid}" in caught.value.hint
    assert "secret" not in path.read_text()


def test_waiting_ends_when_the_holder_lets_go(path: Path, other: OtherProcess) -> None:
    waiting = threading.Event()
    got = threading.Event()

    def wait() -> None:
        waiting.set()
        with FileLock(path, timeout=60):
            got.set()

    thread = threading.Thread(target=wait)
    thread.start()
    waiting.wait()
    assert not got.is_set()
    other.let_go()
    thread.join(60)
    assert got.is_set()


@pytest.mark.lesson(9, "one sender at a time for a terminal, across processes")
@pytest.mark.lesson(37, "state changes under one kernel lock, briefly, and never twice at once")
def test_the_lock_ends_with_a_killed_process(path: Path, other: OtherProcess) -> None:
    assert is_held(path) is not None
    other.kill()
    assert read_holder(path).pid == other.process.pid  # it had no time to sign off
    assert is_held(path) is None
    with FileLock(path, timeout=0):
        assert read_holder(path).pid == os.getpid()


@pytest.mark.lesson(37, "state changes under one kernel lock, briefly, and never twice at once")
def test_a_child_of_the_holder_does_not_keep_the_lock(path: Path) -> None:
    with FileLock(path):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    try:
        with FileLock(path, timeout=0):
            assert child.poll() is None
    finally:
        child.communicate(b"\n")


def test_a_forked_child_cannot_release_the_lock_of_its_parent(path: Path) -> None:
    script = """
import os, sys
from llmc.host.locks import FileLock, is_held
lock = FileLock(sys.argv[1])
lock.acquire()
child = os.fork()
lock.release() if child == 0 else os.waitpid(child, 0)
if child:
    assert is_held(sys.argv[1]).pid == os.getpid()
    lock.release()
    assert is_held(sys.argv[1]) is None
    print("right")
"""
    assert subprocess.check_output([sys.executable, "-c", script, path], text=True) == "right\n"


@pytest.mark.lesson(37, "state changes under one kernel lock, briefly, and never twice at once")
def test_taking_it_twice_is_a_bug_that_shows_at_once(path: Path) -> None:
    with FileLock(path, timeout=1000) as lock:
        with pytest.raises(RuntimeError, match="already held by this thread"):
            FileLock(path, timeout=1000).acquire()
        with pytest.raises(RuntimeError, match="already held by this thread"):
            lock.acquire()
        with pytest.raises(RuntimeError, match="already held by this thread"):
            FileLock(path).try_acquire()
        assert is_held(path) is not None
    with FileLock(path, timeout=0):
        pass


def test_taking_it_twice_shows_under_another_name_too(path: Path) -> None:
    with FileLock(path):
        alias = path.with_name("alias.lock")
        alias.hardlink_to(path)
        with pytest.raises(RuntimeError):
            FileLock(alias).acquire()


def test_releasing_what_is_not_held_is_a_bug(path: Path) -> None:
    lock = FileLock(path)
    with pytest.raises(RuntimeError, match="not held"):
        lock.release()


def test_threads_exclude_each_other(path: Path) -> None:
    shared = FileLock(path, timeout=60)
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(20):
            with shared:
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 80


def test_trying_does_not_wait(path: Path, other: OtherProcess) -> None:
    lock = FileLock(path, timeout=1000)
    assert not lock.try_acquire()
    other.let_go()
    assert lock.try_acquire()
    lock.release()


def test_the_holder_is_known_only_while_it_holds(path: Path) -> None:
    assert is_held(path) is None
    assert not path.exists()
    before = time.time()
    with FileLock(path):
        holder = is_held(path)
        assert holder is not None
        assert holder.pid == os.getpid()
        assert before <= holder.since_unix <= time.time()
    assert is_held(path) is None
    assert path.read_bytes() == b""


def test_an_unsigned_lock_is_still_a_lock(path: Path) -> None:
    with FileLock(path):
        path.write_text("{")
        holder = is_held(path)
        assert holder is not None
        assert (holder.pid, str(holder)) == (0, "another process")


def test_many_probes_never_make_a_try_fail(path: Path, other: OtherProcess) -> None:
    other.kill()  # leaves its signature behind
    script = "import sys; from llmc.host.locks import is_held\nprint(flush=True)\nwhile True: is_held(sys.argv[1])"
    with subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE) as prober:
        try:
            assert prober.stdout is not None
            assert prober.stdout.readline() == b"\n"
            lock = FileLock(path)
            for _ in range(300):
                assert lock.try_acquire()
                lock.release()
        finally:
            prober.kill()


def test_a_lock_whose_file_was_removed_excludes_nobody_so_it_is_made_anew(path: Path) -> None:
    stale = FileLock(path)
    stale.acquire()
    path.unlink()
    with FileLock(path, timeout=0):
        assert is_held(path) is not None
    stale.release()


def test_the_lock_file_is_private_and_says_the_time_in_json(path: Path) -> None:
    with FileLock(path):
        assert path.stat().st_mode & 0o777 == 0o600
        assert sorted(json.loads(path.read_text())) == ["command", "pid", "since_unix"]


def test_a_place_that_cannot_hold_a_lock_is_named(tmp_path: Path) -> None:
    with pytest.raises(DiskError, match="no such file or directory") as caught:
        FileLock(tmp_path / "missing" / "a.lock").acquire()
    assert caught.value.hint
    with pytest.raises(DiskError, match="is a directory"):
        FileLock(tmp_path).acquire()
