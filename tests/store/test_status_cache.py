"""The cache of what is known of terminals: the tables of the design, and what it survives."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from llmc.core.screen.assessment import TerminalStatus
from llmc.root import Root
from llmc.store.status_cache import HISTORY_KEPT, StatusCache, sweep

SHOP: TerminalStatus = {
    "id": "shop",
    "state": "READY",
    "detail": None,
    "confidence": 0.9,
    "source": "screen",
    "summary": "waits",
    "actions_needed": ["look"],
    "cue": "prompt",
    "pack": "shell",
    "since_unix": 100.0,
    "last_snapshot_hash": "abc",
    "last_change_unix": 90.0,
    "last_polled_unix": 101.0,
    "stable_count": 3,
    "called_for": "",
    "cwd": "/srv/shop",
    "cli_type": "bash",
    "tmux_server": "/sockets/x",
    "tmux_session": "main",
    "tmux_window": "@1",
    "tmux_pane": "%1",
}


class Heard:
    def __init__(self) -> None:
        self.complaints: list[str] = []
        self.right_again: list[str] = []

    def complain(self, about: str, text: str, /) -> None:
        self.complaints.append(text)

    def settled(self, about: str, /) -> None:
        self.right_again.append(about)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def cache(tmp_path: Path, heard: Heard) -> StatusCache:
    return StatusCache(str(tmp_path / ".workers"), heard)


def rows(cache: StatusCache, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(cache.path) as database:
        found = database.execute(query).fetchall()
    database.close()
    return found


def test_everything_that_the_tables_promise_is_there(cache: StatusCache) -> None:
    cache.write([SHOP], frozenset(("shop",)))
    assert rows(cache, "SELECT id, tmux_session, tmux_window, cwd, cli_type FROM ptys") == [
        ("shop", "main", "@1", "/srv/shop", "bash")
    ]
    columns = "state, summary, actions_needed, last_snapshot_hash, last_change_ts, last_polled_ts, stable_count"
    assert rows(cache, f"SELECT id, {columns} FROM status") == [
        ("shop", "READY", "waits", '["look"]', "abc", 90, 101, 3)
    ]
    assert rows(cache, "SELECT id, ts, state, summary FROM status_history") == [("shop", 100, "READY", "waits")]
    kept = json.loads((cache.directory / "shop" / "status.json").read_text())
    assert (kept["state"], kept["actions_needed"], kept["tmux_pane"]) == ("READY", ["look"], "%1")
    assert cache.path.stat().st_mode & 0o077 == 0
    cache.close()


def test_the_history_has_only_what_moved_and_does_not_grow_for_ever(cache: StatusCache) -> None:
    cache.write([SHOP], frozenset(("shop",)))
    cache.write([{**SHOP, "summary": "still"}])
    assert len(cache.history("shop", limit=10)) == 1
    for number in range(HISTORY_KEPT + 20):
        cache.write([{**SHOP, "state": "BUSY", "since_unix": float(number)}], frozenset(("shop",)))
    history = cache.history("shop", limit=1000)
    assert len(history) == HISTORY_KEPT
    assert history[-1][1]["at_unix"] == HISTORY_KEPT + 19
    last = history[-2][0]
    assert [number for number, _ in cache.history("shop", limit=10, after=last)] == [history[-1][0]]
    cache.close()


def test_a_locked_database_is_complained_of_and_written_later(cache: StatusCache, heard: Heard) -> None:
    cache.write([SHOP], frozenset(("shop",)))
    other = sqlite3.connect(cache.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    cache.write([{**SHOP, "state": "BUSY"}], frozenset(("shop",)))
    assert len(heard.complaints) == 1
    assert "locked" in heard.complaints[0]
    assert json.loads((cache.directory / "shop" / "status.json").read_text())["state"] == "BUSY"
    other.execute("ROLLBACK")
    other.close()
    cache.polled(["shop"], 200.0)
    assert rows(cache, "SELECT state, last_polled_ts FROM status") == [("BUSY", 200)]
    assert [entry["state"] for _, entry in cache.history("shop", limit=5)] == ["READY", "BUSY"]
    assert heard.right_again[-1] == "status.db"
    cache.close()


def test_a_damaged_database_is_begun_anew(cache: StatusCache, heard: Heard) -> None:
    cache.directory.mkdir(parents=True)
    cache.path.write_bytes(b"this is no database" * 100)
    cache.write([SHOP], frozenset(("shop",)))
    cache.write([SHOP])
    assert rows(cache, "SELECT state FROM status") == [("READY",)]
    assert len(heard.complaints) == 1
    cache.close()


def test_text_that_is_no_text_is_kept_in_another_form(cache: StatusCache, heard: Heard) -> None:
    cache.write([{**SHOP, "summary": "bad \udcff", "cwd": "/srv/\udcfe"}], frozenset(("shop",)))
    assert rows(cache, "SELECT summary FROM status") == [("bad \\udcff",)]
    assert heard.complaints == []
    cache.close()


def test_what_belongs_to_nobody_is_swept_away(cache: StatusCache, tmp_path: Path) -> None:
    root = Root(str(tmp_path))
    for name in ("orphan", "adam", "shop"):
        cache.write([{**SHOP, "id": name}])
    (tmp_path / ".worktrees" / "adam").mkdir(parents=True)
    (cache.directory / "shop" / "terminal.json").write_text("{}")
    sweep(root, cache)
    assert sorted(path.name for path in cache.directory.iterdir() if path.is_dir()) == ["adam", "shop"]
    assert sorted(cache.known()) == ["adam", "shop"]
    cache.close()
