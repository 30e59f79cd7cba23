from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from llmc import model
from llmc.host.locks import FileLock
from llmc.model import State, Work, Worker
from llmc.store import snapshot
from llmc.store.codec import StateInvalidError, StateNewerError, encode
from llmc.store.snapshot import read_attention, read_daemon_pid, read_state
from llmc.store.state_file import StateBrokenError, StateFile, StateMissingError


@pytest.fixture
def file(tmp_path: Path) -> StateFile:
    file = StateFile(tmp_path)
    adam = Worker("adam", "/srv/adam", "llmc/adam", "llmc-adam", "claude", 0.5, 1e9, current_prompt='"😀\n\udcff')
    file.create(State({"adam": replace(adam, work=Work.WORKING)}, "adam", 12.0))
    return file


def root(file: StateFile) -> str:
    return str(file.root)


def test_it_reads_what_the_careful_reader_reads(file: StateFile) -> None:
    assert read_state(root(file)) == encode(file.load()) == json.loads(file.path.read_text())


def test_the_schema_is_that_of_the_model() -> None:
    assert snapshot.SCHEMA == model.SCHEMA


def test_it_does_without_the_fast_scanner(file: StateFile) -> None:
    script = """
import sys
sys.modules["_json"] = None
from llmc.store.snapshot import read_state
print(list(read_state(sys.argv[1])["workers"]))
"""
    assert subprocess.check_output([sys.executable, "-c", script, file.root], text=True) == "['adam']\n"


def test_it_imports_next_to_nothing(file: StateFile) -> None:
    script = """
import sys
before = set(sys.modules)
from llmc.store.snapshot import read_state
assert read_state(sys.argv[1])["workers"]["adam"]["work"] == "working"
print(*sorted(set(sys.modules) - before))
"""
    added = subprocess.check_output([sys.executable, "-c", script, file.root], text=True).split()
    assert set(added) <= {"_json", "__future__", "llmc", "llmc.errors", "llmc.store", "llmc.store.snapshot"}


@pytest.mark.parametrize("around", ["\n {} ", "{}", "\ufeff{}"])
def test_space_around_the_state_does_no_harm(file: StateFile, around: str) -> None:
    file.path.write_text(around.replace("{}", file.path.read_text()))
    assert list(read_state(root(file))["workers"]) == ["adam"]


def test_an_old_format_is_migrated(file: StateFile) -> None:
    file.path.write_text('{"workers": {"adam": {"worktree_path": "/srv/adam", "status": "offline"}}}')
    adam = read_state(root(file))["workers"]["adam"]
    assert (adam["work"], adam["status"], adam["agent"]) == ("idle", "offline", "claude")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("", StateBrokenError),
        ('{"schema": 1,\n "workers": ', StateBrokenError),
        ('{"schema": 1, "workers": {}} {}', StateBrokenError),
        ("[" * 100_000, StateBrokenError),
        ("[]", StateInvalidError),
        ("7", StateInvalidError),
        ('{"schema": 1, "workers": []}', StateInvalidError),
        ('{"schema": 1, "workers": {"adam": 5}}', StateInvalidError),
        ('{"schema": 1, "workers": {"adam": {"name": "adam"}}}', StateInvalidError),
        ('{"schema": 2, "workers": {}}', StateNewerError),
    ],
)
def test_what_cannot_be_shown_is_explained(file: StateFile, content: str, error: type[Exception]) -> None:
    file.path.write_text(content)
    with pytest.raises(error) as caught:
        read_state(root(file))
    assert str(file.path) in str(caught.value)


def test_a_missing_state_is_explained(tmp_path: Path) -> None:
    with pytest.raises(StateMissingError, match="there is no"):
        read_state(str(tmp_path))
    (tmp_path / "state.json").mkdir()
    with pytest.raises(StateBrokenError, match="not a file"):
        read_state(str(tmp_path))


def test_the_last_readings_are_read_and_what_is_being_replaced_is_passed_over(tmp_path: Path) -> None:
    assert read_attention(str(tmp_path / "missing")) == {}
    (tmp_path / "adam.json").write_text('{"state": "BUSY", "confidence": 0.98}')
    (tmp_path / "baker.json").write_text('{"state": ')
    (tmp_path / ".charlie.json").write_text("{}")
    assert read_attention(str(tmp_path)) == {"adam": {"state": "BUSY", "confidence": 0.98}}


def test_the_holder_of_the_daemon_lock_is_the_daemon(tmp_path: Path) -> None:
    path = tmp_path / "daemon.lock"
    assert read_daemon_pid(str(path)) is None
    with FileLock(path):
        assert read_daemon_pid(str(path)) == os.getpid()
    assert read_daemon_pid(str(path)) is None
