"""Files and directories of LLMC's own are opened as they are: nothing that stands in their place is followed."""

from __future__ import annotations

import os
import socket
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from llmc.agents.base import Launch
from llmc.host.files import (
    is_own_directory,
    is_replaced,
    make_own_directory,
    open_own,
    opened,
    read_own,
    write_atomically,
)
from llmc.host.locks import FileLock, is_held, read_holder
from llmc.perform.launch_files import write_launch_files
from llmc.store.worker_log import WorkerLog


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.txt"
    path.write_text("precious\n")
    return path


def put(path: Path, kind: str, mine: Path) -> None:
    match kind:
        case "link":
            path.symlink_to(mine)
        case "dangling link":
            path.symlink_to(mine.with_name("nowhere"))
        case "pipe":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(str(path))


KINDS = ["link", "dangling link", "pipe", "socket"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_lock(tmp_path: Path, mine: Path, kind: str) -> None:
    path = tmp_path / "adam.lock"
    put(path, kind, mine)
    assert is_held(path) is None
    assert read_holder(path).pid == 0
    with FileLock(path):
        holder = is_held(path)
        assert holder is not None
        assert holder.pid == os.getpid()
    assert mine.read_text() == "precious\n"
    assert not (tmp_path / "nowhere").exists()
    assert len(list(tmp_path.glob(".adam.lock.aside-*"))) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_log(tmp_path: Path, mine: Path, kind: str) -> None:
    put(tmp_path / "adam.log", kind, mine)
    log = WorkerLog(tmp_path)
    log.append("adam", {"said": "hello"})
    assert "hello" in (tmp_path / "adam.log").read_text()
    assert mine.read_text() == "precious\n"


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_replaced(tmp_path: Path, mine: Path, kind: str) -> None:
    path = tmp_path / "settings.json"
    put(path, kind, mine)
    assert read_own(path) == b"" if kind != "dangling link" else not path.exists()
    write_atomically(path, "{}")
    assert (path.read_text(), mine.read_text()) == ("{}", "precious\n")
    assert stat.S_IMODE(path.lstat().st_mode) == 0o600
    for left in (f".new-{threading.get_native_id()}", ".settings.json.new"):  # by a writer that was killed
        os.symlink(mine, tmp_path / left)
    write_atomically(path, "{ }")
    write_atomically(path, "[]", durable=True)
    assert (path.read_text(), mine.read_text()) == ("[]", "precious\n")
    assert list(tmp_path.glob(".*")) == []


def test_what_was_there_before_keeps_another_name(tmp_path: Path) -> None:
    path, before = tmp_path / "state.json", tmp_path / "state.json.bak"
    write_atomically(path, b"1", durable=True)
    for content in (b"2", b"3"):
        write_atomically(path, content, durable=True, mode=0o640, previous=before)
    assert (path.read_bytes(), before.read_bytes()) == (b"3", b"2")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(tmp_path.iterdir()) == [path, before]


def test_what_cannot_be_written_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "file").write_text("1")
    for durable in (False, True):
        with pytest.raises(OSError):
            write_atomically(tmp_path / "taken", "", durable=durable)
        with pytest.raises(OSError):
            write_atomically(tmp_path / "file", "2", durable=durable, previous=tmp_path / "taken")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken"]
    assert (tmp_path / "file").read_text() == "1"


def test_a_name_may_be_as_long_as_names_can_be(tmp_path: Path) -> None:
    write_atomically(tmp_path / ("x" * 255), "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x" * 255]


def test_several_threads_may_write_one_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "tmux.conf"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: write_atomically(path, f"{number}" * 1000), range(400)))
    assert len(path.read_text()) in (1000, 2000, 3000)
    assert list(tmp_path.iterdir()) == [path]


def test_a_settings_file_of_an_agent_that_was_a_link_to_the_persons_own(tmp_path: Path, mine: Path) -> None:
    path = tmp_path / "agent" / "settings.json"
    path.parent.mkdir()
    path.symlink_to(mine)
    beside = tmp_path / "agent" / "login.json"
    write_launch_files(Launch(("agent",), files={str(path): "{}"}, links={str(beside): str(mine)}))
    assert (path.read_text(), mine.read_text()) == ("{}", "precious\n")
    assert beside.is_symlink()


def test_a_directory_in_place_of_a_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "adam.lock").mkdir()
    with pytest.raises(IsADirectoryError):
        open_own(tmp_path / "adam.lock", os.O_RDWR | os.O_CREAT)
    assert (tmp_path / "adam.lock").is_dir()


def test_directories(tmp_path: Path, mine: Path) -> None:
    own, link, there = tmp_path / "own", tmp_path / "link", tmp_path / "there"
    there.mkdir()
    link.symlink_to(there)
    make_own_directory(str(own))
    assert [is_own_directory(str(path)) for path in (own, link, mine, tmp_path / "no")] == [True, False, False, False]
    assert [is_replaced(str(path)) for path in (own, link, mine, tmp_path / "no")] == [False, True, True, False]
    for path in (link, mine, tmp_path / "no"):
        with opened(str(path)) as directory:
            assert directory is None
    make_own_directory(str(link))
    assert is_own_directory(str(link))
    assert [path.readlink() for path in tmp_path.glob(".link.aside-*")] == [there]
