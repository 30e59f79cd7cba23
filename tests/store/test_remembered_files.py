"""Files that are read again and again are parsed only when they have changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llmc.host.files import write_atomically
from llmc.store import snapshot


@pytest.fixture(autouse=True)
def remembering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "_known", None)
    snapshot.remember_files()


def test_what_has_not_changed_is_the_same_value_and_what_has_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    write_atomically(path, json.dumps({"paused": True, "entries": []}))
    first = snapshot._content(str(path))
    assert snapshot._content(str(path)) is first
    write_atomically(path, json.dumps({"paused": None, "entries": []}))
    assert snapshot.read_train(str(path))["paused"] is False
    path.unlink()
    assert snapshot.read_train(str(path)) == {"paused": False, "entries": []}


def test_a_link_is_not_followed_and_a_broken_file_is_nothing(tmp_path: Path) -> None:
    target = tmp_path / "target.json"
    target.write_text('{"paused": true}')
    link = tmp_path / "link.json"
    link.symlink_to(target)
    assert snapshot.read_train(str(link))["paused"] is False
    target.write_text("{")
    assert snapshot.read_patrol(str(target)) == {}


def test_it_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "MOST_KNOWN", 3)
    for number in range(10):
        path = tmp_path / f"{number}.json"
        path.write_text("{}")
        snapshot.read_patrol(str(path))
    assert len(snapshot._known or {}) <= 3
