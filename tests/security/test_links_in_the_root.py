"""Whatever an agent puts in place of LLMC's own files, nothing foreign is written or removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llmc.store.bad_reports import KEPT_BAD
from testing.story import Story, script

FILES = (
    "run/locks/adam.lock",
    "run/locks/adam.pane",
    "run/landing.lock",
    "run/tmux.conf",
    "run/tmux.lock",
    "run/daemon.lock",
    "run/attention/adam.json",
    "run/patrol.json",
    "run/radar.json",
    "logs/adam.log",
    ".workers/status.db",
    "status.db",
    "state.lock",
    "config.lock",
    ".workers/adam/status.json",
)
DIRECTORIES = (
    "run/spool/adam",
    "run/spool/adam/bad",
    "run/spool",
    "run/attention",
    "run/agents",
    "run/agents/adam",
    ".workers",
    ".workers/adam",
    "diagnostics",
)


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A directory of somebody else, with names that LLMC uses itself."""
    place = tmp_path / "foreign"
    for name in (
        "a.txt",
        "adam.json",
        "adam.log",
        "zoe.json",
        "zoe/precious.txt",
        "adam/1.json",
        "adam/bad/2.json",
        "bad/1.json",
        "status.json",
    ):
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("precious\n")
    for number in range(KEPT_BAD + 21):
        (place / f"{number:03}.json").write_text("precious\n")
        (place / f"{number:03}.txt").write_text("precious\n")
    return place


def tree(place: Path) -> dict[str, str]:
    files = (path for path in sorted(place.rglob("*")) if path.is_file())
    return {str(path.relative_to(place)): path.read_text() for path in files}


def put_link(story: Story, name: str, target: Path) -> None:
    path = Path(story.root.path, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(path):
        path.rename(path.with_name(f"{path.name}.before"))
    path.symlink_to(target)


def lead_a_life(story: Story) -> None:
    """What a worker goes through."""
    spool = Path(story.root.spool("adam"))
    if spool.resolve() == spool:
        (spool / "0.json").write_text("no JSON")
    story.llmc("message", "adam", script("nothing"))
    story.llmc("status")
    story.llmc("patrol")
    story.llmc("restart", "adam", "--yes")
    story.llmc("start", "--worker", "adam", "--prompt", script("nothing"))
    story.llmc("reset", "adam", "--yes")
    story.llmc("doctor", "--repair", "--yes")
    assert [each for each in story.json("doctor")["findings"] if each["severity"] == "error"] == []
    story.llmc("nuke", "adam", "--yes")


@pytest.mark.parametrize("name", FILES)
def test_a_link_in_place_of_a_file(story: Story, tmp_path: Path, name: str) -> None:
    story.begin("adam")
    story.llmc("restart", "adam")
    mine = tmp_path / "mine.txt"
    mine.write_text("precious\n")
    put_link(story, name, mine)
    lead_a_life(story)
    assert mine.read_text() == "precious\n"


@pytest.mark.parametrize("name", DIRECTORIES)
def test_a_link_in_place_of_a_directory(story: Story, foreign: Path, name: str) -> None:
    story.begin("adam")
    story.llmc("restart", "adam")
    before = tree(foreign)
    put_link(story, name, foreign)
    lead_a_life(story)
    assert tree(foreign) == before


@pytest.mark.parametrize("name", ["run/spool", "run/attention", "run/agents", ".workers"])
def test_removing_a_worker_leaves_what_a_link_leads_to(story: Story, foreign: Path, name: str) -> None:
    story.begin("adam")
    story.llmc("restart", "adam")
    before = tree(foreign)
    put_link(story, name, foreign)
    story.llmc("nuke", "adam", "--yes")
    left = tree(foreign)
    assert {name: left.get(name) for name in before} == before  # the agent's own last report goes where it leads


@pytest.mark.parametrize("is_link", [True, False])
def test_a_daemon_removes_no_directory_that_it_did_not_make(story: Story, foreign: Path, is_link: bool) -> None:
    story.begin("adam")
    if is_link:
        put_link(story, ".workers", foreign)
        place = foreign
    else:
        place = Path(story.root.terminals, "notes")
        place.mkdir(parents=True)
        (place / "mine.txt").write_text("precious\n")
    before = tree(place)
    story.up()
    story.task("adam", "nothing")
    story.llmc("down")
    assert tree(place) == before


@pytest.mark.parametrize("name", [*DIRECTORIES[:7], "run/locks"])
def test_doctor_tells_of_it_and_puts_it_right(story: Story, foreign: Path, name: str) -> None:
    story.begin("adam")
    story.llmc("restart", "adam")
    before = tree(foreign)
    put_link(story, name, foreign)
    found = [each for each in story.json("doctor", code=1)["findings"] if each["code"] == "directory-replaced"]
    assert [each["what"] for each in found] == [f"{Path(story.root.path, name)} is not a directory"]
    story.llmc("doctor", "--repair", "--yes")
    assert [each for each in story.json("doctor")["findings"] if each["code"] == "directory-replaced"] == []
    assert not Path(story.root.path, name).is_symlink()
    assert tree(foreign) == before
    story.llmc("message", "adam", script("nothing"))


def test_a_name_with_a_line_break_removes_nothing_where_the_person_stands(
    story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.begin("adam")
    here = tmp_path / "checkout"
    (here / "src").mkdir(parents=True)
    (here / "src" / "main.py").write_text("precious\n")
    Path(story.root.path, "run", "spool", "zoe\nsrc").mkdir()
    monkeypatch.chdir(here)
    story.llmc("doctor", "--repair", "--yes")
    assert (here / "src" / "main.py").read_text() == "precious\n"
    assert not Path(story.root.path, "run", "spool", "zoe\nsrc").exists()


def test_settings_that_are_a_link_stay_one(story: Story, tmp_path: Path) -> None:
    story.begin("adam")
    dotfiles = tmp_path / "dotfiles.toml"
    config = Path(story.root.config_file)
    config.rename(dotfiles)
    config.symlink_to(dotfiles)
    story.llmc("config", "set", "policy.autonomy", "auto")
    assert config.is_symlink()
    assert "auto" in dotfiles.read_text()
