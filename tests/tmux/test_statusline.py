"""Our part of the status line comes and goes without a trace."""

from __future__ import annotations

import pytest

from llmc.tmux.server import Tmux
from llmc.tmux.statusline import UnfitPathError, install, is_installed, remove, status_part

PART = status_part(["/opt/my tools/llmc", "--root", "/srv/100%#x", "pty", "status", "--short"])


@pytest.fixture
def tmux(private_tmux: Tmux, tmp_path) -> Tmux:
    private_tmux.new_session("main", str(tmp_path), ["cat"], {}, (80, 24))
    return private_tmux


def options(tmux: Tmux) -> str:
    return tmux.run("show-options", "-g").text


@pytest.mark.parametrize("there", ["", "#[fg=red]%H:%M #(date) ;", "'quoted' \"twice\"  ", "a\\;"])
def test_what_was_there_comes_back_exactly(tmux, there):
    tmux.run("set-option", "-g", "status-right", there + "|")
    before = options(tmux)
    assert install(tmux, PART)
    assert not install(tmux, PART)
    assert is_installed(tmux)
    assert tmux.run("show-options", "-gv", "status-right").text.startswith(PART)
    assert remove(tmux)
    assert not remove(tmux)
    assert options(tmux) == before


def test_another_command_takes_the_place_of_the_first(tmux):
    before = options(tmux)
    install(tmux, PART)
    install(tmux, status_part(["llmc", "pty", "status", "--short"]))
    assert tmux.run("show-options", "-gv", "status-right").text.count("pty status") == 1
    remove(tmux)
    assert options(tmux) == before


def test_what_the_person_changed_meanwhile_stays(tmux):
    install(tmux, PART)
    tmux.run("set-option", "-g", "status-right", "mine")
    tmux.run("set-option", "-g", "status-right-length", "77")
    assert remove(tmux)
    assert tmux.run("show-options", "-gv", "status-right").text == "mine\n"
    assert tmux.run("show-options", "-gv", "status-right-length").text == "77\n"
    assert not is_installed(tmux)


def test_brackets_would_end_the_command_too_early():
    with pytest.raises(UnfitPathError):
        status_part(["/srv/a(b)/llmc"])
