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
    apart.go_on_rebasing()
    assert rebase_in_progress(git, apart.path) is None
    assert apart.sha("HEAD~2") == source.sha()
    assert apart.run("log", "-2", "--format=%s").split("\n") == ["second of two", "first of two"]


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
    apart.go_on_rebasing()
    apart.run("reset", "--quiet", "--hard", tip)
    assert isinstance(rebase_onto(git, apart.path, "origin/main"), Rebased)
    assert apart.file("README").read_text() == "both\n"


def test_resolution_that_leaves_nothing_of_a_commit_drops_it(git, source, apart):
    rebase_onto(git, apart.path, "origin/main")
    resolve_conflict(apart, "upstream\n")
    apart.go_on_rebasing()
    assert apart.run("log", "--format=%s", "origin/main..") == "second of two"


def test_dirty_worktree_is_refused_and_kept(git, apart):
    tip = apart.sha()
    apart.write("new", "dirty\n")
    apart.run("config", "rebase.autoStash", "true")
    with pytest.raises(GitError, match="unstaged changes"):
        rebase_onto(git, apart.path, "origin/main")
    assert (apart.sha(), apart.file("new").read_text()) == (tip, "dirty\n")


def test_untracked_file_in_the_way_puts_everything_back(git, source, root, worker):
    tip = worker.commit_file("a", "a\n")
    worker.write("late", "untracked\n")
    source.commit_file("late", "upstream\n")
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


# --- what comes of it is the merge of the whole work --------------------------------------------------


def rebased_content(git, root, worker):
    """Rebases; the tree that it ends in, and the one that merging all at once gives."""
    whole = would_conflict(git, root.path, "origin/main", "llmc/adam")
    outcome = rebase_onto(git, worker.path, "origin/main", task="the task")
    assert isinstance(outcome, Rebased)
    assert (worker.status(), worker.sha("HEAD")) == ("", outcome.sha)
    assert current_branch(git, worker.path) == "llmc/adam"
    assert worker.sha("HEAD^{tree}") == whole.tree
    return outcome


def merge_with_an_edit(worker, *branches):
    worker.run("merge", "--quiet", "--no-ff", "--no-commit", *branches)
    worker.write("extra", "written in the merge\n")
    worker.commit("merge, and something more")


@pytest.mark.lesson(48, "what was changed inside a merge commit survives the rebase")
def test_an_edit_inside_a_merge_survives(git, source, root, worker):
    worker.commit_file("new", "x\n", "the work\n\nWhy it is so.")
    source.commit_file("other", "y\n")
    root.run("fetch", "--quiet")
    merge_with_an_edit(worker, "origin/main")
    source.commit_file("later", "z\n")
    root.run("fetch", "--quiet")
    assert rebased_content(git, root, worker).joined
    assert worker.file("extra").read_text() == "written in the merge\n"
    assert worker.sha("HEAD~1") == source.sha()
    assert worker.run("log", "-1", "--format=%B").strip() == "the work\n\nWhy it is so."


@pytest.mark.lesson(48, "what was changed inside a merge commit survives the rebase")
def test_an_edit_inside_an_octopus_survives(git, source, root, worker):
    for side in ("one", "two"):
        worker.run("checkout", "--quiet", "-b", side, "origin/main")
        worker.commit_file(side, f"{side}\n", f"add {side}")
    worker.run("checkout", "--quiet", "llmc/adam")
    merge_with_an_edit(worker, "one", "two")
    source.commit_file("other", "y\n")
    root.run("fetch", "--quiet")
    assert rebased_content(git, root, worker).joined
    assert sorted(worker.run("ls-files").split()) == ["README", "extra", "one", "other", "two"]
    assert {"add one", "- add two"} <= set(worker.run("log", "-1", "--format=%B").splitlines())


@pytest.mark.lesson(48, "what was changed inside a merge commit survives the rebase")
def test_an_edit_inside_a_merge_survives_conflicts(git, source, root, worker):
    worker.commit_file("README", "worker\n")
    source.commit_file("other", "y\n")
    root.run("fetch", "--quiet")
    merge_with_an_edit(worker, "origin/main")
    source.commit_file("README", "upstream\n")
    root.run("fetch", "--quiet")
    assert rebase_onto(git, worker.path, "origin/main") == Conflicted(("README",), joined=True)
    resolve_conflict(worker)
    worker.go_on_rebasing()
    assert worker.file("extra").read_text() == "written in the merge\n"


def test_a_merge_without_edits_keeps_the_commits_apart(git, source, root, worker):
    worker.commit_file("new", "x\n", "first")
    source.commit_file("other", "y\n")
    root.run("fetch", "--quiet")
    worker.run("merge", "--quiet", "--no-ff", "--no-edit", "origin/main")
    worker.commit_file("newer", "x\n", "second")
    source.commit_file("later", "z\n")
    root.run("fetch", "--quiet")
    assert not rebased_content(git, root, worker).joined
    assert worker.run("log", "--format=%s", "origin/main..").split() == ["second", "first"]


def test_a_merge_that_is_up_to_date_stays_as_it_is(git, source, root, worker):
    worker.commit_file("new", "x\n")
    source.commit_file("other", "y\n")
    root.run("fetch", "--quiet")
    merge_with_an_edit(worker, "origin/main")
    tip = worker.sha()
    assert rebase_onto(git, worker.path, "origin/main") == Rebased(tip)


def test_what_was_taken_back_and_done_again_stays(git, source, root, worker):
    """Git would leave out the two commits that the branch has, and replay the one that takes them back."""
    worker.commit_file("new", "x\n", "add it")
    worker.run("revert", "--no-edit", "HEAD")
    worker.commit_file("new", "x\n", "add it again")
    worker.commit_file("more", "x\n", "and more")
    source.commit_file("new", "x\n", "the same by somebody else")
    root.run("fetch", "--quiet")
    rebased_content(git, root, worker)
    assert worker.file("new").exists()
    assert worker.file("more").exists()


def test_what_the_branch_has_taken_back_is_brought_again(git, source, root, worker):
    """Git would leave the commit out, because the branch has had it at some time."""
    worker.commit_file("new", "x\n", "add it")
    source.commit_file("new", "x\n", "the same by somebody else")
    source.run("revert", "--no-edit", "HEAD")
    root.run("fetch", "--quiet")
    rebased_content(git, root, worker)
    assert worker.file("new").exists()


def test_fixups_and_empty_commits_stay_as_they_are(git, source, root, worker):
    worker.commit_file("new", "x\n", "add it")
    worker.commit_file("new", "y\n", "fixup! add it")
    worker.commit("only words")
    source.commit_file("other", "y\n")
    root.run("fetch", "--quiet")
    assert not rebased_content(git, root, worker).joined
    assert worker.run("log", "--format=%s", "origin/main..").split("\n") == ["only words", "fixup! add it", "add it"]


def test_work_that_the_branch_has_leaves_nothing(git, source, root, worker):
    worker.commit_file("new", "x\n", "add it")
    source.commit_file("new", "x\n", "add it myself")
    root.run("fetch", "--quiet")
    assert rebase_onto(git, worker.path, "origin/main") == Rebased(source.sha())


def test_author_and_message_come_along(git, source, root, worker):
    name = {"GIT_AUTHOR_NAME": "Ada Ägypten", "GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_AUTHOR_DATE": "@1 +0200"}
    worker.write("new")
    worker.commit("Subject\n\nBody äöü\n\nSigned-off-by: Ada <ada@example.com>", env=name)
    told = ("log", "-1", "--format=%an %ae %ad%n%B", "--date=raw")
    before = worker.run(*told)
    source.commit_file("other", "y\n")
    root.run("fetch", "--quiet")
    rebased_content(git, root, worker)
    assert worker.run(*told) == before
