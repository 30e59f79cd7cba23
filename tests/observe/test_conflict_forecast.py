"""Conflicts are seen before anybody rebases, uncommitted files included, and only who changed is looked at again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llmc.git.clone import fetch_source
from llmc.observe import conflict_forecast as module
from llmc.observe.conflict_forecast import Radar
from testing.story import Story, told_in


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    with told_in(tmp_path) as story:
        yield story.begin("adam", "baker", "carl")


@pytest.fixture
def radar(story: Story) -> Radar:
    return Radar(story.root.radar_store("test"))


def write(story: Story, name: str, path: str, content: str) -> None:
    file = Path(story.worker(name).worktree_path, path)
    file.parent.mkdir(exist_ok=True)
    file.write_text(content)


def upstream(story: Story, path: str, content: str) -> None:
    story.commit_upstream(path, content, "By hand")
    fetch_source(story.site.git, story.site.config.repo.source, story.root.path, "main")


def look(story: Story, radar: Radar, *names: str) -> Any:
    radar.look_at(story.site, names or ("adam", "baker", "carl"))
    return radar.document(story.site)


def pairs(document: Any) -> dict[tuple[str, ...], list[str]]:
    return {tuple(pair["workers"]): [file["path"] for file in pair["files"]] for pair in document["with_each_other"]}


def with_branch(document: Any) -> dict[str, list[str]]:
    found = {name: [file["path"] for file in worker["with_branch"]] for name, worker in document["workers"].items()}
    return {name: files for name, files in found.items() if files}


def test_uncommitted_work_of_two_workers(story: Story, radar: Radar) -> None:
    write(story, "adam", "new.txt", "of adam\n")
    write(story, "baker", "new.txt", "of baker\n")
    write(story, "carl", "other.txt", "of carl\n")
    document = look(story, radar)
    assert pairs(document) == {("adam", "baker"): ["new.txt"]}
    assert with_branch(document) == {}
    assert document["workers"]["adam"]["uncommitted"]
    for name in ("adam", "baker"):
        assert story.git("status", "--porcelain", cwd=story.worker(name).worktree_path) == "?? new.txt"


def test_the_branch_and_a_commit(story: Story, radar: Radar) -> None:
    story.commit_as("adam", "README", "of adam\n", "Ours")
    upstream(story, "README", "of the user\n")
    document = look(story, radar)
    assert with_branch(document) == {"adam": ["README"]}
    assert document["workers"]["adam"]["with_branch"] == [{"path": "README", "kind": "content"}]
    assert story.git("status", "--porcelain", cwd=story.worker("adam").worktree_path) == ""


def test_who_stands_on_a_newer_branch_is_not_blamed_for_it(story: Story, radar: Radar) -> None:
    """Adam has the user's change in README without having touched it: only baker has a conflict there."""
    story.commit_as("baker", "README", "of baker\n", "Ours")
    upstream(story, "README", "of the user\n")
    story.git("reset", "--quiet", "--hard", "origin/main", cwd=story.worker("adam").worktree_path)
    story.commit_as("adam", "a.txt", "a\n", "Add a")
    document = look(story, radar)
    assert with_branch(document) == {"baker": ["README"]}
    assert pairs(document) == {}


def test_a_renamed_directory(story: Story, radar: Radar) -> None:
    upstream(story, "one.txt", "".join(f"{n}\n" for n in range(50)))
    (story.repository / "d").mkdir()
    story.git("mv", "one.txt", "d/one.txt")
    story.git("commit", "--quiet", "-m", "Into d")
    tip = fetch_source(story.site.git, story.site.config.repo.source, story.root.path, "main")
    for name in ("adam", "baker"):
        story.git("reset", "--quiet", "--hard", tip, cwd=story.worker(name).worktree_path)
    story.git("mv", "d", "e", cwd=story.worker("adam").worktree_path)
    write(story, "baker", "d/new.txt", "new\n")
    assert list(pairs(look(story, radar))) == [("adam", "baker")]


def test_only_who_has_changed_is_looked_at_again(story: Story, radar: Radar) -> None:
    write(story, "adam", "new.txt", "of adam\n")
    before = look(story, radar)["workers"]
    write(story, "baker", "new.txt", "of baker\n")
    after = look(story, radar, "baker")
    assert pairs(after) == {("adam", "baker"): ["new.txt"]}
    assert after["workers"]["adam"] == before["adam"]
    assert after["workers"]["baker"]["at_unix"] > before["baker"]["at_unix"]


def test_when_the_branch_moves_everybody_is_looked_at(story: Story, radar: Radar) -> None:
    story.commit_as("adam", "README", "of adam\n", "Ours")
    assert with_branch(look(story, radar)) == {}
    upstream(story, "README", "of the user\n")
    assert with_branch(look(story, radar, "baker")) == {"adam": ["README"]}


def test_a_conflict_that_is_over_is_forgotten(story: Story, radar: Radar) -> None:
    for name in ("adam", "baker"):
        write(story, name, "new.txt", f"of {name}\n")
    assert pairs(look(story, radar))
    Path(story.worker("baker").worktree_path, "new.txt").unlink()
    assert pairs(look(story, radar, "baker")) == {}


def test_who_is_removed_is_forgotten(story: Story, radar: Radar) -> None:
    for name in ("adam", "baker"):
        write(story, name, "new.txt", f"of {name}\n")
    look(story, radar)
    story.llmc("nuke", "baker", "--yes")
    document = look(story, radar, "baker")
    assert sorted(document["workers"]) == ["adam", "carl"]
    assert pairs(document) == {}


def test_who_cannot_be_looked_at_says_why_and_keeps_nobody_from_the_rest(story: Story, radar: Radar) -> None:
    for name in ("adam", "baker"):
        write(story, name, "new.txt", f"of {name}\n")
    story.rewrite("carl", worktree_path=str(story.place / "nowhere"))
    document = look(story, radar)
    assert pairs(document) == {("adam", "baker"): ["new.txt"]}
    assert "is gone" in document["workers"]["carl"]["unknown"]


def test_the_store_does_not_grow_for_ever(story: Story, radar: Radar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOKS_KEPT", 4)
    for round_number in range(6):
        write(story, "adam", "new.txt", f"round {round_number}\n")
        look(story, radar, "adam")
    store = Path(story.root.radar_store("test"))
    assert len([path for path in store.rglob("*") if path.is_file()]) < 20
    radar.close(story.site)
    assert not store.exists()
