from __future__ import annotations

import os
import shutil

import pytest

from llmc.git.clone import ensure_view
from llmc.git.failure import GitError
from llmc.git.repository import branch_tip, current_branch, operations
from llmc.git.worktree import (
    WorktreeError,
    add_worktree,
    delete_branch,
    find_worktree,
    remove_worktree,
    reset_in_place,
    worktree_path,
)


def stop_in_rebase(repo, onto="other"):
    """Leaves the repository in the middle of a rebase with a conflict in README."""
    branch = current_branch(repo.git, repo.path)
    repo.commit_file("README", "mine\n")
    repo.run("checkout", "--quiet", "-b", onto, "HEAD~1")
    repo.commit_file("README", "theirs\n")
    repo.run("checkout", "--quiet", branch)
    assert repo.git.run(repo.path, "rebase", onto, check=False).code == 1


@pytest.mark.parametrize("name", ["", "..", ".hidden", "a/b"])
def test_names_that_lead_elsewhere_are_refused(name):
    with pytest.raises(WorktreeError):
        worktree_path("/r", name)


def test_worktree_is_on_its_own_branch(git, root, source):
    path = add_worktree(git, root.path, "adam", "llmc/adam", source.sha())
    assert path == f"{root.path}/.worktrees/adam"
    assert current_branch(git, path) == "llmc/adam"
    assert branch_tip(git, root.path, "llmc/adam") == source.sha()
    assert "branch.llmc/adam" not in root.run("config", "--local", "--list")


def test_adding_again_changes_nothing(git, root, worker, source):
    worker.write("dirty")
    head = worker.commit_file("new", "x")
    worker.write("dirty")
    add_worktree(git, root.path, "adam", "llmc/adam", source.sha())
    assert (worker.sha(), worker.file("dirty").exists()) == (head, True)


def test_adding_again_in_the_middle_of_a_rebase_changes_nothing(git, root, worker, source):
    stop_in_rebase(worker)
    before = worker.status()
    assert add_worktree(git, root.path, "adam", "llmc/adam", source.sha()) == worker.path
    assert worker.status() == before


def test_adding_that_was_cut_short_is_begun_again(git, root, worker, source):
    root.run("worktree", "lock", "--reason", "initializing", worker.path)
    worker.file("README").unlink()
    add_worktree(git, root.path, "adam", "llmc/adam", source.sha())
    assert worker.status() == ""
    assert not find_worktree(git, root.path, "adam").locked


def test_adding_after_the_directory_vanished(git, root, worker, source):
    shutil.rmtree(worker.path)
    add_worktree(git, root.path, "adam", "llmc/adam", source.sha())
    assert worker.status() == ""


def test_adding_never_buries_commits(git, root, worker, source):
    head = worker.commit_file("new", "x")
    remove_worktree(git, root.path, "adam")
    with pytest.raises(WorktreeError, match="commits of its own"):
        add_worktree(git, root.path, "adam", "llmc/adam", source.sha())
    assert branch_tip(git, root.path, "llmc/adam") == head


def test_adding_takes_a_leftover_branch_without_work_over(git, root, worker, source):
    remove_worktree(git, root.path, "adam")
    newer = source.commit_file("new", "x")
    root.run("fetch", "--quiet")
    add_worktree(git, root.path, "adam", "llmc/adam", newer)
    assert worker.sha() == newer


def test_adding_where_something_else_is(git, root, source):
    os.makedirs(f"{root.path}/.worktrees/adam")
    with open(f"{root.path}/.worktrees/adam/notes", "w") as notes:
        notes.write("keep me")
    with pytest.raises(GitError, match="already exists"):
        add_worktree(git, root.path, "adam", "llmc/adam", source.sha())
    assert os.listdir(f"{root.path}/.worktrees/adam") == ["notes"]


def test_adding_ignores_global_hooks(git, root, source, tmp_path):
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "post-checkout").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "post-checkout").chmod(0o755)
    git.run(str(tmp_path), "config", "--global", "core.hooksPath", str(hooks))
    path = add_worktree(git, root.path, "adam", "llmc/adam", source.sha())
    reset_in_place(git, path, "llmc/adam", source.sha())
    assert current_branch(git, path) == "llmc/adam"


def dirty(root, worker):
    worker.write("untracked")
    worker.write("README", "changed\n")


def locked(root, worker):
    root.run("worktree", "lock", worker.path)


def missing(root, worker):
    shutil.rmtree(worker.path)


def missing_and_locked(root, worker):
    locked(root, worker)
    missing(root, worker)


def rebasing(root, worker):
    stop_in_rebase(worker)


def without_link(root, worker):
    worker.file(".git").unlink()


def without_record(root, worker):
    shutil.rmtree(f"{root.path}/.git/worktrees/adam")


@pytest.mark.parametrize("state", [dirty, locked, missing, missing_and_locked, rebasing, without_link, without_record])
def test_removing_in_any_state(git, root, worker, state):
    state(root, worker)
    remove_worktree(git, root.path, "adam")
    assert not os.path.lexists(worker.path)
    assert find_worktree(git, root.path, "adam") is None
    delete_branch(git, root.path, "llmc/adam")
    assert branch_tip(git, root.path, "llmc/adam") is None


def test_removing_what_is_not_there(git, root):
    remove_worktree(git, root.path, "nobody")
    delete_branch(git, root.path, "llmc/nobody")
    assert find_worktree(git, root.path, "nobody") is None


def test_removing_leaves_the_others(git, root, worker):
    other = root.worker("baker")
    remove_worktree(git, root.path, "adam")
    assert other.status() == ""


def test_branch_in_use_is_not_deleted(git, root, worker):
    with pytest.raises(GitError, match="adam"):
        delete_branch(git, root.path, "llmc/adam")


def test_a_worktree_that_somebody_else_made_is_left_alone(git, root, source, tmp_path):
    elsewhere = tmp_path / "elsewhere" / "adam"
    root.run("worktree", "add", "--quiet", "--detach", str(elsewhere), "origin/main")
    with pytest.raises(WorktreeError, match="somebody else has made a worktree"):
        add_worktree(git, root.path, "adam", "llmc/adam", source.sha())
    assert root.run("-C", str(elsewhere), "status", "--porcelain") == ""
    shutil.rmtree(elsewhere)
    add_worktree(git, root.path, "adam", "llmc/adam", source.sha())


@pytest.mark.lesson(29, "a worktree is reset in place, under its running agent")
def test_reset_drops_all_but_ignored_files_and_keeps_the_directory(git, root, worker, source):
    worker.commit_file("new", "x")
    worker.write("README", "changed\n")
    worker.write("staged")
    worker.run("add", "staged")
    worker.write("un/tracked")
    worker.write("debug.log")
    source.run("config", "core.excludesFile", root.write("ignore", "*.log\n"))
    root.run("config", "core.excludesFile", root.file("ignore"))
    ensure_view(git, source.path, root.path, "main")
    inode = os.stat(worker.path).st_ino
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    assert worker.status() == ""
    assert worker.sha("llmc/adam") == worker.sha() == source.sha()
    assert sorted(os.listdir(worker.path)) == [".git", "README", "debug.log"]
    assert os.stat(worker.path).st_ino == inode


def test_reset_from_a_detached_head(git, worker, source):
    worker.run("checkout", "--quiet", "--detach")
    worker.commit_file("new", "x")
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    assert current_branch(git, worker.path) == "llmc/adam"
    assert worker.sha() == source.sha()


def test_reset_from_another_branch(git, worker, source):
    worker.run("checkout", "--quiet", "-b", "idea")
    idea = worker.commit_file("new", "x")
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    assert current_branch(git, worker.path) == "llmc/adam"
    assert worker.sha("idea") == idea


def test_reset_in_the_middle_of_a_rebase(git, worker, source):
    stop_in_rebase(worker)
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    assert (operations(git, worker.path), worker.status()) == ((), "")
    assert current_branch(git, worker.path) == "llmc/adam"


def test_reset_in_the_middle_of_a_damaged_rebase(git, root, worker, source):
    stop_in_rebase(worker)
    state = f"{root.path}/.git/worktrees/adam/rebase-merge"
    for name in os.listdir(state):
        os.unlink(f"{state}/{name}")
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    assert (operations(git, worker.path), worker.status()) == ((), "")


@pytest.mark.parametrize("verb", ["merge", "cherry-pick", "revert"])
def test_reset_in_the_middle_of_something_else(git, worker, source, verb):
    stop_in_rebase(worker)
    worker.run("rebase", "--abort")
    if verb == "revert":
        worker.commit_file("README", "again\n")
        assert git.run(worker.path, "revert", "HEAD~1", check=False).code == 1
    else:
        assert git.run(worker.path, verb, "other", check=False).code == 1
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    assert (operations(git, worker.path), worker.status()) == ((), "")


def test_reset_leaves_a_repository_inside_alone(git, worker, source):
    worker.run("init", "--quiet", "inner")
    worker.write("inner/file")
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    assert worker.file("inner/file").exists()


def test_the_first_worktree_after_the_last_one_was_removed_by_hand(git, root):
    first = root.worker("adam")
    root.run("worktree", "remove", "--force", first.path)
    assert root.worker("bea").file("README").exists()
