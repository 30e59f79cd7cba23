"""`llmc rebase` on real histories: what the branch is afterwards, and that the user's checkout is not touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from llmc.git.backup import list_backups
from llmc.git.rebase import rebase_in_progress
from llmc.model import Turn, Work
from testing.world import SOME, World

README = SOME["README"]
NEW = {"a.txt": "a\n"}
TOP, END = README.replace("line 1\n", "top\n"), README.replace("line 20\n", "end\n")


@dataclass(frozen=True, slots=True)
class Case:
    arrange: Callable[[World], object]
    subjects: tuple[str, ...] = ()
    """What the branch has above the user's, oldest first."""
    conflicts: tuple[str, ...] = ()
    work: Work = Work.NEEDS_REVIEW
    refused: str = ""

    @property
    def name(self) -> str:
        return self.arrange.__name__


def commits_in_other_files(w: World) -> None:
    w.work(NEW, "One")
    w.work({"b.txt": "b\n"}, "Two")
    w.upstream({"hand.txt": "h\n"})


def commits_in_the_same_file(w: World) -> None:
    w.work({"README": TOP}, "Top")
    w.upstream({"README": END})


def nothing_to_do(w: World) -> None:
    w.work(NEW, "One")


def all_of_it_is_there(w: World) -> None:
    w.work(NEW, "One")
    w.upstream(NEW)


def a_part_of_it_is_there(w: World) -> None:
    w.work(NEW, "One")
    w.work({"b.txt": "b\n"}, "Two")
    w.upstream(NEW)


def the_commit_below_was_amended(w: World) -> None:
    w.upstream({"secret.txt": "s\n", "README": TOP}, "Oops")
    w.story.llmc("reset", "adam", "--yes")
    w.work(NEW, "One")
    w.in_source("rm", "--quiet", "secret.txt")
    w.in_source("commit", "--quiet", "--amend", "-m", "Without the secret")


def a_renamed_file_was_changed(w: World) -> None:
    w.upstream({"notes.txt": "notes\n" * 20}, "Longer")
    w.story.llmc("reset", "adam", "--yes")
    w.work({"notes.txt": "notes\n" * 20 + "more\n"}, "More notes")
    w.upstream({"notes.txt": None, "docs/notes.md": "notes\n" * 20}, "Move it")


def a_merge_is_flattened(w: World) -> None:
    w.work(NEW, "One")
    w.upstream({"hand.txt": "h\n"})
    w.story.fetch_upstream()
    w.in_worktree("merge", "--quiet", "--no-edit", "origin/main")
    w.work({"b.txt": "b\n"}, "Two")
    w.upstream({"hand.txt": "h2\n"})


def something_was_changed_in_a_merge(w: World) -> None:
    w.work(NEW, "One")
    w.upstream({"hand.txt": "h\n"})
    w.story.fetch_upstream()
    w.in_worktree("merge", "--quiet", "--no-commit", "--no-ff", "origin/main")
    w.work({"merged.txt": "in the merge\n"}, "Merge main")
    w.work({"b.txt": "b\n"}, "Two")
    w.upstream({"hand.txt": "h2\n"})


def the_users_rebase_settings_do_not_matter(w: World) -> None:
    for name in ("rebase.autoSquash", "rebase.autoStash", "rebase.updateRefs", "commit.gpgSign"):
        w.in_clone("config", name, "true")
    w.work(NEW, "One", GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="commit.gpgSign", GIT_CONFIG_VALUE_0="false")
    w.upstream({"hand.txt": "h\n"})


def hooks_do_not_matter(w: World) -> None:
    hooks = w.story.place / "hooks"
    hooks.mkdir()
    for name in ("pre-rebase", "pre-commit", "commit-msg", "post-rewrite", "post-checkout"):
        (hooks / name).write_text("#!/bin/sh\nexit 1\n")
        (hooks / name).chmod(0o755)
    w.work(NEW, "One")
    w.upstream({"hand.txt": "h\n"})
    w.in_clone("config", "core.hooksPath", str(hooks))


def both_changed_a_line(w: World) -> None:
    w.work({"README": README.replace("line 3\n", "worker\n"), **NEW}, "One")
    w.upstream({"README": README.replace("line 3\n", "user\n")})


def both_added_a_file(w: World) -> None:
    w.work({"x.txt": "worker\n"}, "One")
    w.upstream({"x.txt": "user\n"})


def one_deleted_what_the_other_changed(w: World) -> None:
    w.work({"notes.txt": "worker\n"}, "One")
    w.upstream({"notes.txt": None})


def several_files_conflict(w: World) -> None:
    w.work({"x.txt": "worker\n", "y.txt": "worker\n"}, "One")
    w.upstream({"x.txt": "user\n", "y.txt": "user\n"})


def a_file_is_not_committed(w: World) -> None:
    w.work(NEW, "One")
    w.upstream({"hand.txt": "h\n"})
    (w.worktree / "half.txt").write_text("half\n")


def no_branch_is_checked_out(w: World) -> None:
    w.work(NEW, "One")
    w.upstream({"hand.txt": "h\n"})
    w.in_worktree("checkout", "--quiet", "--detach")


CASES = [
    Case(commits_in_other_files, ("One", "Two")),
    Case(commits_in_the_same_file, ("Top",)),
    Case(nothing_to_do, ("One",)),
    Case(all_of_it_is_there, (), work=Work.NEEDS_INPUT),
    Case(a_part_of_it_is_there, ("Two",)),
    Case(the_commit_below_was_amended, ("One",)),
    Case(a_renamed_file_was_changed, ("More notes",)),
    Case(a_merge_is_flattened, ("One", "Two")),
    Case(something_was_changed_in_a_merge, ("One",)),
    Case(the_users_rebase_settings_do_not_matter, ("One",)),
    Case(hooks_do_not_matter, ("One",)),
    Case(both_changed_a_line, conflicts=("README",), work=Work.REBASING),
    Case(both_added_a_file, conflicts=("x.txt",), work=Work.REBASING),
    Case(one_deleted_what_the_other_changed, conflicts=("notes.txt",), work=Work.REBASING),
    Case(several_files_conflict, conflicts=("x.txt", "y.txt"), work=Work.REBASING),
    Case(a_file_is_not_committed, refused="uncommitted changes in half.txt"),
    Case(no_branch_is_checked_out, refused="on no branch at all"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rebase(world: World, case: Case) -> None:
    case.arrange(world)
    world.to_review()
    world.local({"mine.txt": "m\n", "run.sh": "mine\n"})
    head, before = world.in_clone("rev-parse", "llmc/adam"), world.picture()
    if case.refused:
        assert case.refused in world.story.llmc("rebase", "adam", code=1).err
        assert world.picture() == before
        return
    world.story.llmc("rebase", "adam", code=1 if case.conflicts else 0)  # its agent does not run and cannot be asked
    after = world.picture()
    assert after["source"] == before["source"], "the user's repository is none of a rebase's business"
    assert (after["locks"], world.story.worker("adam").work) == ([], case.work)
    kept = [backup.head_sha for backup in list_backups(world.story.site.git, world.story.root.path, "adam")]
    assert head in (*kept, world.in_clone("rev-parse", "llmc/adam"))
    if case.conflicts:
        assert_stopped(world, case)
    else:
        assert_rebased(world, case)


def assert_rebased(world: World, case: Case) -> None:
    assert world.in_clone("log", "--reverse", "--format=%s", "origin/main..llmc/adam").splitlines() == [*case.subjects]
    assert world.in_clone("rev-list", "--count", "--merges", "origin/main..llmc/adam") == "0"
    assert world.in_clone("rev-parse", "origin/main") == world.in_source("rev-parse", "main")
    assert world.in_clone("merge-base", "origin/main", "llmc/adam") == world.in_source("rev-parse", "main")
    assert world.in_worktree("status", "--porcelain") == ""
    worker = world.story.worker("adam")
    assert worker.commit_sha == (world.in_worktree("rev-parse", "HEAD") if case.subjects else None)
    assert worker.pending == ()


def assert_stopped(world: World, case: Case) -> None:
    progress = rebase_in_progress(world.story.site.git, str(world.worktree))
    assert progress is not None
    assert progress.branch == "llmc/adam"
    assert world.story.worker("adam").conflicted_files == case.conflicts
    assert tuple(world.in_worktree("diff", "--name-only", "--diff-filter=U").splitlines()) == case.conflicts


def test_a_rejected_verdict_follows_the_work_through_a_rebase(world: World) -> None:
    world.work(NEW, "One")
    world.to_review()
    world.upstream({"hand.txt": "h\n"})
    world.story.rewrite("adam", rejected_sha=world.story.worker("adam").commit_sha)
    world.story.llmc("rebase", "adam")
    worker = world.story.worker("adam")
    assert worker.rejected_sha == worker.commit_sha == world.in_worktree("rev-parse", "HEAD")


@pytest.mark.lesson(33, "one at a time rebases a worktree")
def test_a_worker_in_the_middle_of_a_turn_is_not_rebased(world: World) -> None:
    world.work(NEW, "One")
    world.to_review()
    world.story.rewrite("adam", turn=Turn.OPEN, reports_events=True)
    before = world.picture()
    assert "middle of a turn" in world.story.llmc("rebase", "adam", code=1).err
    assert world.picture() == before


@pytest.mark.lesson(48, "what was changed inside a merge commit survives the rebase")
def test_what_was_changed_in_a_merge_lands(world: World) -> None:
    something_was_changed_in_a_merge(world)
    world.to_review()
    said = world.story.llmc("rebase", "adam").out
    assert "its commits are one now" in said
    assert "`llmc undo adam` has them as they were" in said
    assert (world.worktree / "merged.txt").read_text() == "in the merge\n"
    world.story.llmc("accept", "adam")
    assert world.in_source("show", "main:merged.txt") == "in the merge"
    assert world.in_source("log", "-1", "--format=%B", "main").splitlines() == ["One", "", "- Two"]


@pytest.mark.lesson(48, "what was changed inside a merge commit survives the rebase")
def test_what_was_changed_in_a_merge_survives_conflicts_that_are_given_up(world: World) -> None:
    something_was_changed_in_a_merge(world)
    world.work({"README": TOP}, "Three")
    world.upstream({"README": README.replace("line 1\n", "user\n")})
    world.to_review()
    assert "its commits are one now" in world.story.llmc("rebase", "adam", code=1).out
    world.in_worktree("rebase", "--abort")
    world.story.llmc("accept", "adam", "--dry-run", code=1)  # looks at git first
    worker = world.story.worker("adam")
    assert (worker.work, worker.commit_sha) == (Work.NEEDS_REVIEW, world.in_worktree("rev-parse", "HEAD"))
    assert (world.worktree / "merged.txt").read_text() == "in the merge\n"
