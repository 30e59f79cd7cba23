"""A worktree whose git is not LLMC's any more: nothing of it is lost, and nobody else's repository is touched."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from llmc.model import Work
from testing.story import Story


def _git(place: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=place, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _own_repository(story: Story, worktree: Path) -> None:
    (worktree / ".git").unlink()
    _git(worktree, "init", "--quiet")
    (worktree / "committed.txt").write_text("in a repository of its own\n")
    _git(worktree, "add", "committed.txt")
    _git(worktree, "commit", "--quiet", "-m", "Elsewhere")


def _the_users_repository(story: Story, worktree: Path) -> None:
    (worktree / ".git").write_text(f"gitdir: {story.repository}/.git\n")


def _another_workers(story: Story, worktree: Path) -> None:
    (worktree / ".git").write_text(f"gitdir: {story.root.git_dir}/worktrees/bert\n")


def _a_link(story: Story, worktree: Path) -> None:
    (worktree / ".git").unlink()
    (worktree / ".git").symlink_to(story.repository / ".git")


def _nothing(story: Story, worktree: Path) -> None:
    (worktree / ".git").unlink()


def _record_linked_away(story: Story, worktree: Path) -> None:
    record = Path(story.root.git_dir, "worktrees", "adam")
    shutil.rmtree(record)
    record.symlink_to(story.repository / ".git")


def _record_gone(story: Story, worktree: Path) -> None:
    shutil.rmtree(Path(story.root.git_dir, "worktrees", "adam"))


FOREIGN: tuple[Callable[[Story, Path], None], ...] = (
    _own_repository,
    _the_users_repository,
    _another_workers,
    _a_link,
    _nothing,
    _record_linked_away,
    _record_gone,
)
ids = pytest.mark.parametrize("replace", FOREIGN, ids=lambda each: each.__name__.strip("_"))


@pytest.fixture
def others(story: Story) -> Callable[[], list[str]]:
    """What the user and the other worker have: none of it may move."""

    def look() -> list[str]:
        bert = story.worker("bert").worktree_path
        return [
            *(story.git(*words) for words in (["for-each-ref"], ["symbolic-ref", "HEAD"], ["status", "--porcelain"])),
            *(story.git(*words, cwd=bert) for words in (["rev-parse", "HEAD"], ["status", "--porcelain"])),
        ]

    return look


def _prepare(story: Story, replace: Callable[[Story, Path], None]) -> Path:
    story.begin("adam", "bert")
    worktree = Path(story.worker("adam").worktree_path)
    sha = story.commit_as("adam", "work.txt", "the work\n", "Work")
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha)
    story.commit_upstream("users.txt", "of the user's\n", "Go on")
    Path(story.repository, "mine.txt").write_text("not yet committed\n")
    replace(story, worktree)
    (worktree / "dirty.txt").write_text("dirty\n")
    return worktree


def _kept(story: Story, ref: str, path: str) -> str:
    return story.git("show", f"{ref}:{path}", cwd=story.root.path)


@pytest.mark.lesson(47, "a backup is read back from where the promise says it is before anything goes")
@ids
def test_nuke_keeps_commits_and_files(
    story: Story, others: Callable[[], list[str]], replace: Callable[[Story, Path], None]
) -> None:
    worktree = _prepare(story, replace)
    before = others()
    assert "worktree that is not LLMC's" in story.llmc("nuke", "adam", code=1).err
    said = story.llmc("nuke", "adam", "--yes").out
    assert not worktree.exists()
    assert others() == before
    ref = story.json("undo", "--list")[0]["ref"]
    assert _kept(story, ref, "dirty.txt") == "dirty"
    assert _kept(story, ref, "work.txt") == "the work"
    assert "Work" in story.git("log", "--format=%s", ref, cwd=story.root.path)
    if replace is _own_repository:
        assert f"kept under {story.root.path}/aside" in said
        (repository,) = Path(story.root.path, "aside").glob("*/adam.git")
        assert _git(repository, "log", "--format=%s") == "Elsewhere"


@ids
def test_reset_makes_it_the_workers_again(
    story: Story, others: Callable[[], list[str]], replace: Callable[[Story, Path], None]
) -> None:
    worktree = _prepare(story, replace)
    before = others()
    story.llmc("reset", "adam", "--yes")
    assert others() == before
    assert story.git("status", "--porcelain", cwd=str(worktree)) == ""
    assert story.git("symbolic-ref", "--short", "HEAD", cwd=str(worktree)) == "llmc/adam"
    assert (worktree / "users.txt").exists()
    story.llmc("undo", "adam", "--yes")
    assert (worktree / "dirty.txt").read_text() == "dirty\n"
    assert (worktree / "work.txt").read_text() == "the work\n"
    assert others() == before


@ids
def test_the_doctor_finds_and_repairs_it(
    story: Story, others: Callable[[], list[str]], replace: Callable[[Story, Path], None]
) -> None:
    worktree = _prepare(story, replace)
    before = others()
    assert "worktree-unregistered" in story.llmc("doctor", "--json", code=1).out
    story.llmc("doctor", "--repair", "--yes")
    assert story.git("rev-parse", "--git-dir", cwd=str(worktree)) == f"{story.root.git_dir}/worktrees/adam"
    assert (worktree / "dirty.txt").read_text() == "dirty\n"
    assert story.git("log", "-1", "--format=%s", cwd=str(worktree)) == "Work"
    assert others() == before


@pytest.mark.parametrize("verb", ["accept", "rebase"])
@ids
def test_nothing_lands_or_moves_from_it(
    story: Story, others: Callable[[], list[str]], replace: Callable[[Story, Path], None], verb: str
) -> None:
    worktree = _prepare(story, replace)
    before = others()
    story.llmc(verb, "adam", code=1)
    assert others() == before
    assert (worktree / "dirty.txt").read_text() == "dirty\n"
