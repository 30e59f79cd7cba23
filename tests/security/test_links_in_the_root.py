"""Whatever an agent puts in place of LLMC's own files, nothing foreign is written or removed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from llmc.store.bad_reports import KEPT_BAD
from testing.story import Story, script

FILES = {
    "locks": (
        "run/locks/adam.lock",
        "run/locks/adam.pane",
        "run/landing.lock",
        "run/tmux.lock",
        "run/daemon.lock",
        "state.lock",
        "config.lock",
    ),
    "notes": (
        "run/tmux.conf",
        "run/attention/adam.json",
        "run/patrol.json",
        "run/radar.json",
        "logs/adam.log",
        ".workers/adam/status.json",
    ),
    "databases": (".workers/status.db", "status.db"),
}
OUTER = ("run/spool", "run/agents", ".workers")
DIRECTORIES = {
    "of a worker": ("run/spool/adam", "run/attention", "run/agents/adam", ".workers/adam", "diagnostics"),
    "of all": OUTER,
    "of bad reports": ("run/spool/adam/bad",),
}
WATCHED = {**DIRECTORIES, "of a worker": ("run/spool/adam", "run/attention", "run/agents/adam", "run/locks")}
"""Those that the doctor looks at."""


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


def put_links(story: Story, names: Iterable[str], target: Path) -> None:
    for name in names:
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


@pytest.mark.parametrize("names", FILES.values(), ids=FILES)
def test_links_in_place_of_files(story: Story, tmp_path: Path, names: tuple[str, ...]) -> None:
    story.begin("adam")
    story.llmc("restart", "adam")
    mine = {name: tmp_path / name.replace("/", " ") for name in names}
    for name, file in mine.items():
        file.write_text("precious\n")
        put_links(story, [name], file)
    lead_a_life(story)
    assert {name: file.read_text() for name, file in mine.items()} == dict.fromkeys(names, "precious\n")


@pytest.mark.parametrize("names", DIRECTORIES.values(), ids=DIRECTORIES)
def test_links_in_place_of_directories(story: Story, foreign: Path, names: tuple[str, ...]) -> None:
    story.begin("adam")
    story.llmc("restart", "adam")
    before = tree(foreign)
    put_links(story, names, foreign)
    lead_a_life(story)
    assert tree(foreign) == before


def test_removing_a_worker_leaves_what_links_lead_to(story: Story, foreign: Path) -> None:
    story.begin("adam")
    story.llmc("restart", "adam")
    before = tree(foreign)
    put_links(story, (*OUTER, "run/attention"), foreign)
    story.llmc("nuke", "adam", "--yes")
    left = tree(foreign)
    assert {name: left.get(name) for name in before} == before  # the agent's own last report goes where it leads


@pytest.mark.parametrize("is_link", [True, False])
def test_a_daemon_removes_no_directory_that_it_did_not_make(story: Story, foreign: Path, is_link: bool) -> None:
    story.begin("adam")
    if is_link:
        put_links(story, [".workers"], foreign)
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


@pytest.mark.parametrize("names", WATCHED.values(), ids=WATCHED)
def test_doctor_tells_of_it_and_puts_it_right(story: Story, foreign: Path, names: tuple[str, ...]) -> None:
    story.begin("adam")
    story.llmc("restart", "adam")
    before = tree(foreign)
    put_links(story, names, foreign)
    found = [each for each in story.json("doctor", code=1)["findings"] if each["code"] == "directory-replaced"]
    paths = [Path(story.root.path, name) for name in names]
    assert {each["what"] for each in found} == {f"{path} is not a directory" for path in paths}
    story.llmc("doctor", "--repair", "--yes")
    assert [each for each in story.json("doctor")["findings"] if each["code"] == "directory-replaced"] == []
    assert not any(path.is_symlink() for path in paths)
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
