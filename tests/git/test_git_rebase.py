from __future__ import annotations

import pytest

from llmc.git.failure import GitError
from llmc.git.rebase import (
    Clean,
    Conflicted,
    Conflicts,
    Rebased,
    RebaseRefusedError,
    abort_rebase,
    continue_rebase,
    rebase_in_progress,
    rebase_onto,
    would_conflict,
)
from llmc.git.repository import current_branch


@pytest.fixture
def apart(source, root, worker):
    """The worker and the user both changed README; the worker has a second commit after that."""
    worker.commit_file("README", "worker\n", "first of two")
    worker.commit_file("new", "x\n", "second of two")
    source.commit_file("README", "upstream\n")
    root.run("fetch", "--quiet")
    return worker


def resolve_conflict(worker, content="both\n"):
    worker.write("README", content)
    worker.run("add", "README")


def test_prediction_of_a_clean_merge(git, source, root, worker):
    worker.commit_file("new", "x\n")
    source.commit_file("other", "y\n")
    root.run("fetch", "--quiet")
    merged = would_conflict(git, root.path, "origin/main", "llmc/adam")
    assert isinstance(merged, Clean)
    assert root.run("ls-tree", "--name-only", merged.tree).split() == ["README", "new", "other"]


def test_prediction_of_conflicts_touches_nothing(git, root, apart):
    head = apart.sha()
    assert would_conflict(git, root.path, "origin/main", "llmc/adam") == Conflicts(("README",))
    assert (apart.status(), apart.sha()) == ("", head)


def test_prediction_about_no_commit_is_no_answer(git, root, worker):
    with pytest.raises(GitError):
        would_conflict(git, root.path, "origin/main", "nowhere")


def test_clean_rebase(git, source, root, worker):
    worker.commit_file("new", "x\n")
    upstream = source.commit_file("other", "y\n")
    root.run("fetch", "--quiet")
    assert rebase_onto(git, worker.path, "origin/main") == Rebased(worker.sha("llmc/adam"))
    assert worker.sha("HEAD~1") == upstream
    assert current_branch(git, worker.path) == "llmc/adam"


def test_rebase_without_need(git, worker, source):
    assert rebase_onto(git, worker.path, "origin/main") == Rebased(source.sha())


def test_worker_without_commits_moves_along(git, source, root, worker):
    upstream = source.commit_file("other", "y\n")
    root.run("fetch", "--quiet")
    assert rebase_onto(git, worker.path, "origin/main") == Rebased(upstream)


@pytest.mark.lesson(24, "git itself tells where its files are in a worktree")
def test_conflict_stops_and_tells_where_it_stands(git, root, source, apart):
    tip, stopped_at = apart.sha(), apart.sha("HEAD~1")
    assert rebase_onto(git, apart.path, "origin/main") == Conflicted(("README",))
    progress = rebase_in_progress(git, apart.path)
    assert (progress.branch, progress.onto, progress.orig_head) == ("llmc/adam", source.sha(), tip)
    assert (progress.current, progress.remaining) == (stopped_at, 1)


def test_progress_of_the_older_kind_of_rebase(git, source, apart):
    stopped_at = apart.sha("HEAD~1")
    assert git.run(apart.path, "rebase", "--apply", "origin/main", check=False).code == 1
    progress = rebase_in_progress(git, apart.path)
    assert (progress.branch, progress.onto, progress.remaining) == ("llmc/adam", source.sha(), 1)
    assert progress.current == stopped_at
    abort_rebase(git, apart.path)
    assert rebase_in_progress(git, apart.path) is None


def test_patches_being_applied_are_no_rebase(git, source, apart, tmp_path):
    patch = tmp_path / "patch"
    patch.write_text(apart.run("format-patch", "--stdout", "-1", "HEAD~1") + "\n")
    apart.run("checkout", "--quiet", "origin/main")
    assert git.run(apart.path, "am", str(patch), check=False).code != 0
    assert rebase_in_progress(git, apart.path) is None


def test_resolved_rebase_goes_on(git, source, apart):
    rebase_onto(git, apart.path, "origin/main")
    resolve_conflict(apart)
    assert continue_rebase(git, apart.path) == Rebased(apart.sha("llmc/adam"))
    assert apart.sha("HEAD~2") == source.sha()
    assert apart.run("log", "-2", "--format=%s").split("\n") == ["second of two", "first of two"]


def test_rebase_that_cannot_go_on_keeps_the_resolutions(git, apart):
    rebase_onto(git, apart.path, "origin/main")
    resolve_conflict(apart)
    apart.write("new", "in the way of the second commit\n")
    with pytest.raises(GitError):
        continue_rebase(git, apart.path)
    assert rebase_in_progress(git, apart.path).remaining == 0
    assert apart.file("README").read_text() == "both\n"
    assert apart.file("new").read_text() == "in the way of the second commit\n"


def test_aborted_rebase_leaves_everything_as_it_was(git, apart):
    tip = apart.sha()
    rebase_onto(git, apart.path, "origin/main")
    abort_rebase(git, apart.path)
    assert (apart.sha(), current_branch(git, apart.path), apart.status()) == (tip, "llmc/adam", "")
    abort_rebase(git, apart.path)
    assert apart.sha() == tip


def test_remembered_resolution_needs_nobody(git, root, source, apart):
    tip = apart.sha()
    rebase_onto(git, apart.path, "origin/main")
    resolve_conflict(apart)
    continue_rebase(git, apart.path)
    apart.run("reset", "--quiet", "--hard", tip)
    assert isinstance(rebase_onto(git, apart.path, "origin/main"), Rebased)
    assert apart.file("README").read_text() == "both\n"


def test_resolution_that_leaves_nothing_of_a_commit_drops_it(git, source, apart):
    rebase_onto(git, apart.path, "origin/main")
    resolve_conflict(apart, "upstream\n")
    assert isinstance(continue_rebase(git, apart.path), Rebased)
    assert apart.run("log", "--format=%s", "origin/main..") == "second of two"


def test_dirty_worktree_is_refused_and_kept(git, apart):
    tip = apart.sha()
    apart.write("new", "dirty\n")
    apart.run("config", "rebase.autoStash", "true")
    with pytest.raises(GitError, match="unstaged changes"):
        rebase_onto(git, apart.path, "origin/main")
    assert (apart.sha(), apart.file("new").read_text()) == (tip, "dirty\n")


def test_untracked_file_in_the_way_later_on_puts_everything_back(git, source, root, worker):
    worker.commit_file("a", "a\n")
    worker.commit_file("late", "committed\n")
    worker.run("rm", "--quiet", "late")
    worker.commit("without it")
    tip = worker.sha()
    worker.write("late", "untracked\n")
    source.commit_file("other", "y\n")
    root.run("fetch", "--quiet")
    with pytest.raises(GitError, match=r"late|overwritten"):
        rebase_onto(git, worker.path, "origin/main")
    assert (worker.sha(), current_branch(git, worker.path)) == (tip, "llmc/adam")
    assert worker.file("late").read_text() == "untracked\n"
    assert rebase_in_progress(git, worker.path) is None


@pytest.mark.lesson(33, "one at a time rebases a worktree")
def test_second_rebase_at_a_time_is_refused(git, apart):
    rebase_onto(git, apart.path, "origin/main")
    with pytest.raises(RebaseRefusedError, match="in the middle"):
        rebase_onto(git, apart.path, "origin/main")


def test_detached_head_is_refused(git, apart):
    apart.run("checkout", "--quiet", "--detach")
    with pytest.raises(RebaseRefusedError, match="no branch"):
        rebase_onto(git, apart.path, "origin/main")


def test_nobody_is_asked_for_a_signature(git, source, root, worker):
    worker.commit_file("new", "x\n")
    source.commit_file("other", "y\n")
    root.run("fetch", "--quiet")
    root.run("config", "commit.gpgSign", "true")
    root.run("config", "gpg.program", "false")
    assert isinstance(rebase_onto(git, worker.path, "origin/main"), Rebased)


def test_a_users_own_rebase_habits_do_not_matter(git, source, root, worker):
    worker.commit_file("new", "x\n", "fixup! first")
    other = root.worker("baker")
    source.commit_file("other", "y\n")
    root.run("fetch", "--quiet")
    for name in ("rebase.autoSquash", "rebase.updateRefs", "rebase.forkPoint", "rebase.stat"):
        root.run("config", name, "true")
    root.run("config", "rebase.backend", "apply")
    before = other.sha()
    assert isinstance(rebase_onto(git, worker.path, "origin/main"), Rebased)
    assert worker.run("log", "-1", "--format=%s") == "fixup! first"
    assert other.sha() == before
