"""Nuke, reset and undo: a person is asked, a backup is kept, and it brings everything back."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from llmc.core.tasks.task import Standing
from llmc.daemon.upkeep import Upkeep
from llmc.git.backup import list_backups, make_backup
from llmc.host.local import LocalHost
from llmc.model import Session, Turn, Work
from llmc.store.tasks import TaskEvent
from testing.world import Link, World, seen, write


@pytest.fixture
def busy(world: World) -> World:
    """A commit, and every kind of change that is not committed."""
    world.work({"a.txt": "a\n", "gone.txt": "g\n"}, "The work")
    world.to_review()
    write(world.worktree, {"staged.txt": "staged\n", "both.txt": "first\n", "gone.txt": None, "link": Link("a.txt")})
    world.in_worktree("add", "staged.txt", "both.txt")
    write(world.worktree, {"both.txt": "second\n", "README": "changed\n", "new dir/ü.txt": "u\n", "notes.txt": None})
    world.in_worktree("rm", "--quiet", "--cached", "src/app.py")
    (world.worktree / "run.sh").chmod(0o755)
    return world


def work_of(world: World) -> dict[str, object]:
    found = seen(world.story, world.worktree)
    return {name: found[name] for name in ("refs", "HEAD", "index", "status", "files")}


@pytest.mark.lesson(28, "whatever drops work keeps a backup first")
def test_undo_brings_back_what_a_reset_dropped(busy: World) -> None:
    before = work_of(busy)
    busy.story.llmc("reset", "adam", "--yes")
    assert busy.in_worktree("status", "--porcelain") == ""
    assert busy.in_worktree("rev-parse", "HEAD") == busy.in_source("rev-parse", "main")
    busy.story.llmc("undo", "adam")
    assert work_of(busy) == before
    assert busy.story.worker("adam").commit_sha == busy.in_worktree("rev-parse", "HEAD")


@pytest.mark.lesson(28, "whatever drops work keeps a backup first")
def test_undo_brings_back_what_a_nuke_dropped(busy: World) -> None:
    before = work_of(busy)
    busy.story.llmc("nuke", "adam", "--yes")
    assert not busy.worktree.exists()
    assert "was removed" in busy.story.llmc("undo", "adam", code=1).err
    busy.story.llmc("add", "adam", "--agent", "demo")
    busy.story.llmc("undo", "adam")
    assert work_of(busy) == before


@pytest.mark.parametrize("dropped", ["reset", "nuke"])
def test_undo_brings_the_task_back_with_the_work(world: World, dropped: str) -> None:
    task = 'Add a\n\nwith "quotes", ümlauts and\nlines'
    world.work({"a.txt": "a\n"}, "Work")
    world.to_review()
    world.story.rewrite("adam", current_prompt=task)
    world.story.llmc(dropped, "adam", "--yes")
    if dropped == "nuke":
        world.story.llmc("add", "adam", "--agent", "demo")
    assert world.story.worker("adam").current_prompt == ""
    world.story.llmc("undo", "adam")
    worker = world.story.worker("adam")
    assert (worker.work, worker.current_prompt) == (Work.NEEDS_REVIEW, task)
    assert world.story.json("undo", "adam", "--list")[-1]["task"] == task
    world.in_worktree("commit", "--quiet", "--amend", "--allow-empty-message", "-m", "")
    world.story.llmc("accept", "adam")
    assert world.in_source("log", "-1", "--format=%s", "main") == "Add a"


@pytest.mark.parametrize("dropped", ["reset", "nuke"])
@pytest.mark.parametrize("meanwhile", ["nothing", "retried", "landed", "given to baker"])
def test_undo_gives_the_worker_its_task_back_unless_somebody_has_it(world: World, dropped: str, meanwhile: str) -> None:
    story = world.story
    story.llmc("task", "add", "Add a")
    story.site.ledger.tasks.began("t1", "adam", 1.0)
    world.work({"a.txt": "a\n"}, "Work")
    world.to_review()
    story.rewrite("adam", current_prompt="Add a", task="t1")
    story.llmc(dropped, "adam", "--yes")
    if dropped == "nuke":
        story.llmc("add", "adam", "--agent", "demo")
    assert story.json("task")["tasks"][0]["state"] == "failed"
    store = story.site.ledger.tasks
    if meanwhile == "retried":
        story.llmc("task", "retry", "t1")
    elif meanwhile == "landed":
        store.change("t1", TaskEvent(2.0, "landed"), standing=Standing.LANDED)
    elif meanwhile != "nothing":
        story.rewrite("baker", task="t1", work=Work.WORKING, current_prompt="Add a")
    story.llmc("undo", "adam")
    has_it = meanwhile in ("nothing", "retried")
    worker = story.worker("adam")
    assert (worker.work, worker.current_prompt, worker.task) == (Work.NEEDS_REVIEW, "Add a", "t1" if has_it else "")
    if has_it:
        (task,) = story.json("task")["tasks"]
        assert (task["state"], task["worker"]) == ("review", "adam")
        assert "task: t1 Add a" in story.llmc("explain", "adam").out


def test_undo_of_files_alone_asks_how_to_go_on(world: World) -> None:
    world.story.rewrite("adam", work=Work.NEEDS_INPUT, current_prompt="Add a", turn=Turn.OVER)
    write(world.worktree, {"a.txt": "half\n"})
    world.story.llmc("reset", "adam", "--yes")
    world.story.llmc("undo", "adam")
    worker = world.story.worker("adam")
    assert (worker.work, worker.current_prompt) == (Work.NEEDS_INPUT, "Add a")
    assert worker.evidence.detail == "its work was restored from a backup"


def test_undo_again_takes_the_undo_back(busy: World) -> None:
    busy.story.llmc("reset", "adam", "--yes")
    clean = work_of(busy)
    busy.story.llmc("undo", "adam")
    busy.story.llmc("undo", "adam", "--yes")
    assert work_of(busy) == clean


def test_undo_with_nothing_to_restore_says_so(world: World) -> None:
    assert "there is no backup of baker" in world.story.llmc("undo", "baker", code=1).err
    assert "there is no worker named 'nobody'" in world.story.llmc("undo", "nobody", code=1).err


@pytest.mark.parametrize("words", [("nuke", "adam"), ("reset", "adam"), ("nuke", "--all")])
def test_a_script_that_does_not_say_yes_drops_nothing(busy: World, words: tuple[str, ...]) -> None:
    before = busy.picture()
    said = busy.story.llmc(*words, code=1)
    assert "commits that are not merged and" in said.err
    assert "uncommitted files; nothing was" in said.err
    assert "--yes" in said.err
    assert "backup is kept" in said.err
    assert busy.picture() == before


def test_the_commits_of_a_worker_without_a_worktree_are_asked_about_too(busy: World) -> None:
    shutil.rmtree(busy.worktree)
    assert "commits that are not merged" in busy.story.llmc("nuke", "adam", code=1).err
    head = busy.in_clone("rev-parse", "llmc/adam")
    busy.story.llmc("nuke", "adam", "--yes")
    kept = list_backups(busy.story.site.git, busy.story.root.path, "adam")
    assert [backup.head_sha for backup in kept] == [head]


def test_nuke_names_what_no_backup_can_keep(world: World) -> None:
    nested = world.worktree / "vendor" / "lib"
    nested.mkdir(parents=True)
    world.story.git("init", "--quiet", cwd=str(nested))
    (nested / "own.txt").write_text("own\n")
    said = world.story.llmc("nuke", "adam", code=1)
    assert "not of adam's repositories of their own in vendor/lib/" in said.err
    assert nested.exists()
    answer = world.story.json("nuke", "adam", "--yes")
    assert answer == {"removed": ["adam"], "not_kept": {"adam": "repositories of their own in vendor/lib/"}}


def test_nuke_names_a_repository_around_tracked_files(world: World) -> None:
    """Git itself passes over it without a word."""
    world.story.git("init", "--quiet", cwd=str(world.worktree / "src"))
    said = world.story.llmc("nuke", "adam", code=1)
    assert "not of adam's repositories of their own in src/.git" in said.err
    assert world.story.json("nuke", "adam", "--yes")["not_kept"] == {"adam": "repositories of their own in src/.git"}


def test_nuke_names_a_submodule_with_commits_of_its_own(world: World) -> None:
    """They would go with the worktree, though the commit that points at them is kept, or has even landed."""
    library = world.story.place / "library"
    library.mkdir()
    world.story.git("init", "--quiet", cwd=str(library))
    world.story.git("commit", "--quiet", "--allow-empty", "-m", "First", cwd=str(library))
    world.in_source("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    world.in_source("commit", "--quiet", "-m", "Add a library")
    world.story.llmc("reset", "adam", "--yes")
    world.in_worktree("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    inside = str(world.worktree / "lib")
    world.story.git("commit", "--quiet", "--allow-empty", "-m", "Only here", cwd=inside)
    world.in_worktree("commit", "--quiet", "--all", "-m", "The work")
    world.to_review()
    world.story.llmc("accept", "adam")
    said = world.story.llmc("nuke", "adam", code=1)
    assert "not of adam's repositories of their own in lib" in said.err


def test_contents_that_no_filter_suits_are_kept_as_they_are(world: World) -> None:
    write(world.worktree, {".gitattributes": "*.txt working-tree-encoding=UTF-16\n", "new.txt": "no byte order mark\n"})
    world.story.llmc("nuke", "adam", "--yes")
    (backup,) = list_backups(world.story.site.git, world.story.root.path, "adam")
    assert world.in_clone("cat-file", "blob", f"{backup.ref}:new.txt") == "no byte order mark"


def _directories_in_each_other(place: Path, depth: int) -> None:
    inner = os.open(place, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=inner)
        outer, inner = inner, os.open("d", os.O_RDONLY, dir_fd=inner)
        os.close(outer)
    os.close(os.open("precious", os.O_CREAT, dir_fd=inner))
    os.close(inner)


def test_nuke_removes_directories_however_deep_they_are(world: World) -> None:
    _directories_in_each_other(world.worktree, 1500)
    world.story.llmc("nuke", "adam", "--yes")
    (backup,) = list_backups(world.story.site.git, world.story.root.path, "adam")
    assert backup.dirty[0].endswith("d/precious")
    assert not world.worktree.exists()


def test_nothing_is_removed_that_is_too_deep_for_git_to_see(world: World) -> None:
    _directories_in_each_other(world.worktree, 3000)
    said = world.story.llmc("nuke", "adam", "--yes", code=1)
    assert "too deep for git to look into" in said.err
    assert world.worktree.exists()
    LocalHost().remove_tree(str(world.worktree / "d"))


def test_a_reset_leaves_repositories_inside_the_worktree_alone(world: World) -> None:
    nested = world.worktree / "vendor" / "lib"
    nested.mkdir(parents=True)
    world.story.git("init", "--quiet", cwd=str(nested))
    (nested / "own.txt").write_text("own\n")
    world.story.llmc("reset", "adam", "--yes")
    assert (nested / "own.txt").read_text() == "own\n"


def test_backups_go_by_age_and_count(busy: World) -> None:
    busy.config("backup.keep_days", "5")
    busy.config("backup.keep_count", "2")
    site, now = busy.story.site, busy.story.site.now()
    for age_days in (20, 10, 9, 1):
        make_backup(site.git, str(busy.worktree), "adam", now - age_days * 86_400)
    Upkeep().when_due(site)
    left = list_backups(site.git, site.root.path, "adam")
    assert [round((now - backup.at_unix) / 86_400) for backup in left] == [1, 9], "old ones too, up to the count"


# --- sent back and made anew ------------------------------------------------------------------------


def rejected(world: World) -> str:
    head = world.work({"a.txt": "a\n"}, "First try")
    world.to_review()
    world.story.rewrite(
        "adam", work=Work.REJECTED, rejected_sha=head, session=Session.DOWN, reports_events=True, turn=Turn.OVER
    )
    return head


def amend(world: World) -> None:
    (world.worktree / "a.txt").write_text("better\n")
    world.in_worktree("commit", "--quiet", "--all", "--amend", "-m", "First try, better")


def add_a_commit(world: World) -> None:
    world.work({"b.txt": "b\n"}, "Second try")


def begin_again(world: World) -> None:
    world.in_worktree("reset", "--quiet", "--hard", "HEAD~1")
    world.work({"c.txt": "c\n"}, "From scratch")


@pytest.mark.parametrize("rework", [amend, add_a_commit, begin_again])
def test_rework_comes_back_for_review(world: World, rework) -> None:
    sent_back = rejected(world)
    rework(world)
    world.story.llmc("explain", "adam")
    worker = world.story.worker("adam")
    assert (worker.work, worker.commit_sha) == (Work.NEEDS_REVIEW, world.in_worktree("rev-parse", "HEAD"))
    assert worker.commit_sha != sent_back
    world.story.llmc("accept", "adam")


def test_the_very_commit_that_was_sent_back_is_no_rework(world: World) -> None:
    sent_back = rejected(world)
    world.in_worktree("reset", "--quiet", "--hard", "HEAD~1")
    world.in_worktree("reset", "--quiet", "--hard", sent_back)
    world.story.llmc("explain", "adam")
    assert world.story.worker("adam").work is Work.REJECTED
