"""Peers live in a place of their own, and one that is missing is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import install_peers, peers
from bench.peers import PEERS, Peer, absences, own_home

NOWHERE = Peer("nobody", "npm", "./no-such-package", "1.0", "node_modules/.bin/nobody")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (peers, install_peers):
        monkeypatch.setattr(module, "PLACE", tmp_path / "peers")
    return tmp_path / "peers"


def test_versions_are_pinned() -> None:
    assert {"libtmux", "cli-agent-orchestrator", "ccmanager"} == PEERS.keys()
    assert all(peer.version[0].isdigit() for peer in PEERS.values())


def test_a_peer_that_was_never_installed_says_what_to_type(place: Path) -> None:
    assert absences(NOWHERE) == "nobody 1.0 is not installed: `make peers` does it"


def test_a_peer_that_cannot_be_installed_is_said_and_stops_nobody(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(install_peers, "PEERS", {"nobody": NOWHERE})
    monkeypatch.setenv("PATH", str(place))
    install_peers.main()
    assert capsys.readouterr().out == "nobody 1.0 is not installed: npm is not there\n"
    assert not NOWHERE.is_here


def test_one_of_another_version_is_not_the_one_that_is_pinned(place: Path) -> None:
    NOWHERE.place.mkdir(parents=True)
    NOWHERE.stamp.write_text("0.9")
    assert not NOWHERE.is_here
    NOWHERE.stamp.write_text("1.0")
    assert NOWHERE.is_here
    assert absences(NOWHERE) == ""


def test_a_peer_finds_nothing_of_whoever_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLMC_ROOT", "elsewhere")
    env = own_home(str(tmp_path))
    assert (env["HOME"], env["TMUX_TMPDIR"]) == (str(tmp_path), str(tmp_path))
    assert "LLMC_ROOT" not in env
