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


def _link_in_the_record(story: Story, worktree: Path) -> None:
    """Git leaves a rebase by emptying this directory, and follows the link."""
    Path(story.root.git_dir, "worktrees", "adam", "rebase-merge").symlink_to(story.repository)


def _records_linked_away(story: Story, worktree: Path) -> None:
    records = Path(story.root.git_dir, "worktrees")
    shutil.move(records, story.place / "records")
    records.symlink_to(story.place / "records")


def _another_workers_branch(story: Story, worktree: Path) -> None:
    sha = _git(worktree, "rev-parse", "HEAD")
    _git(worktree, "checkout", "--quiet", "--detach")
    _git(worktree, "symbolic-ref", "refs/heads/llmc/adam", "refs/heads/llmc/bert")
    assert _git(worktree, "rev-parse", "HEAD") == sha


FOREIGN: tuple[Callable[[Story, Path], None], ...] = (
    _own_repository,
    _the_users_repository,
    _another_workers,
    _a_link,
    _nothing,
    _record_linked_away,
    _record_gone,
    _link_in_the_record,
    _another_workers_branch,
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


@pytest.mark.parametrize("words", [("nuke", "adam"), ("reset", "adam"), ("doctor", "--repair")])
def test_records_that_are_elsewhere_stay_as_they_are(story: Story, words: tuple[str, ...]) -> None:
    worktree = _prepare(story, _records_linked_away)
    records = story.place / "records"
    before = {path: path.read_bytes() for path in records.rglob("*") if path.is_file()}
    story.llmc(*words, "--yes")
    assert {path: path.read_bytes() for path in records.rglob("*") if path.is_file()} == before
    if words[0] == "doctor":
        assert (worktree / "dirty.txt").read_text() == "dirty\n"
    else:
        assert _kept(story, story.json("undo", "--list")[0]["ref"], "dirty.txt") == "dirty"


def test_a_file_in_place_of_a_worktree_is_kept(story: Story) -> None:
    for words in (("doctor", "--repair", "--yes"), ("nuke", "adam", "--yes")):
        if words[0] == "doctor":
            story.begin("adam", "bert")
        worktree = Path(story.worker("adam").worktree_path)
        shutil.rmtree(worktree)
        worktree.write_text(f"what {words[0]} finds\n")
        story.llmc(*words)
        kept = [path.read_text() for path in Path(story.root.path, "aside").glob("*/adam")]
        assert f"what {words[0]} finds\n" in kept


def test_undo_moves_no_branch_of_another_worker(story: Story) -> None:
    """Agents can write commits that look like backups."""
    story.begin("adam", "bert")
    story.commit_as("adam", "work.txt", "the work\n", "Work")
    berts = story.commit_as("bert", "berts.txt", "of bert's\n", "Work of bert's")
    story.llmc("reset", "adam", "--yes")
    ref, clone = story.json("undo", "--list")[0]["ref"], Path(story.root.git_dir)
    words = _git(clone, "log", "-1", "--format=%B", ref).replace("llmc/adam", "llmc/bert")
    forged = _git(clone, "commit-tree", "-p", f"{ref}^1", "-m", words, f"{ref}^{{tree}}")
    _git(clone, "update-ref", ref, forged)
    story.llmc("undo", "adam", "--yes")
    assert _git(clone, "rev-parse", "llmc/bert") == berts
    assert Path(story.worker("adam").worktree_path, "work.txt").read_text() == "the work\n"


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
