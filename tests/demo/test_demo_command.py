"""`llmc demo` tells its whole story by itself and leaves nothing behind that was not asked for.

That it leaves nothing behind without --keep is tried with the wheel, in tests/packaging.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from llmc.git.runner import Git
from llmc.host.local import LocalHost
from llmc.root import Root
from testing.story import Story, told_in

STORY = ["Start the greeter", "Say goodbye", "Document how to run the greeter", "Greet a whole crowd"]


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Story]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with told_in(tmp_path) as story:
        yield story


def test_it_ends_with_one_clean_commit_for_each_task_and_leaves_the_board_running(story: Story, tmp_path: Path) -> None:
    said = story.llmc("demo", "--speed", "50", "--keep", "--web").out
    (place,) = tmp_path.glob("llmc-demo-*")
    git, repository = Git(LocalHost()), str(place / "greeter")
    assert git.text(repository, "log", "--reverse", "--format=%s", "main").splitlines() == STORY
    assert git.text(repository, "log", "--format=%B").count("LLMC demo agent") == 0
    assert git.text(repository, "log", "--format=%B").lower().count("co-authored-by") == 0
    assert git.text(repository, "status", "--porcelain") == ""
    assert git.text(repository, "show", "main:FEATURES.md").count("\n- ") == 3, "both sides of the conflict"

    shown = [line.strip() for line in said.splitlines()]
    for subject in STORY:
        assert any(re.fullmatch(rf"[0-9a-f]+ {subject}", line) for line in shown)
    for step in ("review adam", "reject", "events baker"):
        assert any(line.startswith(f"$ llmc {step}") for line in shown)
    assert any("git.conflict" in line for line in shown)
    assert f"export LLMC_ROOT={place / 'llmc'}" in shown

    address = re.search(r"the board is at (http://127\.0\.0\.1:\d+/)#token=([\w-]+)", said)
    assert address, said
    asked = Request(f"{address[1]}api/v1/board", headers={"Authorization": f"Bearer {address[2]}"})
    columns = {each["name"]: each["keys"] for each in json.loads(urlopen(asked, timeout=120).read())["columns"]}
    assert columns["needs_you"] == ["worker/adam"]
    assert columns["review"] == ["worker/baker"]
    assert columns["working"] == ["worker/charlie"]

    story.place = place
    assert "has ended" in story.llmc("web", "--stop").out
    story.llmc("down", "--force")
    assert story.processes() == {}
    assert Root(str(place / "llmc")).exists, "it was to be kept"


def test_web_needs_keep(story: Story) -> None:
    assert "--keep" in story.llmc("demo", "--web", code=2).err


def test_a_speed_that_makes_no_sense_is_refused(story: Story) -> None:
    assert "0.1 to 100" in story.llmc("demo", "--speed", "0", code=2).err
