"""A worktree as it is now, as a commit in a store that is thrown away: nothing of it is to be seen elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llmc.git.rebase import rebase_onto
from llmc.git.scratch_objects import open_store
from llmc.git.worktree_commit import LARGEST_UNTRACKED, changes_between, present_commit


@pytest.fixture
def store(git, root, tmp_path):
    return open_store(git, root.path, str(tmp_path / 'odd "store":1'))


def present(git, worker, store):
    return present_commit(git, worker.path, "llmc/adam", store, "adam")


def objects(repo):
    return sorted(str(path) for path in Path(repo.path, ".git", "objects").rglob("*"))


def listed(git, worker, commit, store):
    return set(git.text(worker.path, "ls-tree", "-r", "--name-only", commit, env=store.env()).split("\n"))


def test_a_clean_worktree_is_its_commit(git, worker, store):
    sha = worker.commit_file("new", "x\n")
    now = present(git, worker, store)
    assert (now.commit, now.uncommitted) == (sha, False)


def test_everything_that_is_not_committed_is_in_it(git, root, worker, store):
    worker.write("README", "changed\n")
    worker.write("untracked/näme", "u\n")
    worker.write("staged", "s\n")
    worker.run("add", "staged")
    worker.write("staged", "more\n")
    worker.write(".gitignore", "ignored\n")
    worker.write("ignored", "i\n")
    now = present(git, worker, store)
    assert now.uncommitted
    names = git.run(worker.path, "ls-tree", "-r", "-z", "--name-only", now.commit, env=store.env()).out.decode()
    assert set(names.split("\0")) == {"", ".gitignore", "README", "staged", "untracked/näme"}
    assert git.text(worker.path, "show", f"{now.commit}:staged", env=store.env()) == "more"
    assert git.text(worker.path, "rev-parse", f"{now.commit}^", env=store.env()) == worker.sha()


def test_nothing_of_it_is_to_be_seen(git, root, worker, store):
    worker.write("README", "changed\n")
    worker.write("new", "n\n")
    worker.write("old", "o\n")
    worker.run("add", "old")
    index = Path(root.path, ".git", "worktrees", "adam", "index")
    before = (objects(root), worker.status(), index.read_bytes(), os.listdir(index.parent), root.run("for-each-ref"))
    present(git, worker, store)
    after = (objects(root), worker.status(), index.read_bytes(), os.listdir(index.parent), root.run("for-each-ref"))
    assert after == before


def test_what_was_deleted_or_turned_into_a_directory(git, worker, store):
    worker.commit_file("gone", "x\n")
    worker.file("gone").unlink()
    worker.file("README").unlink()
    worker.write("README/inside", "y\n")
    now = present(git, worker, store)
    assert listed(git, worker, now.commit, store) == {"README/inside"}


def test_a_huge_file_that_git_does_not_know_is_left_out(git, worker, store):
    with worker.file("huge").open("wb") as huge:
        huge.truncate(LARGEST_UNTRACKED + 1)
    assert not present(git, worker, store).uncommitted


def test_a_repository_inside_is_left_out(git, worker, store):
    worker.run("init", "--quiet", "inner")
    worker.write("inner/f", "x\n")
    assert not present(git, worker, store).uncommitted


def test_in_the_middle_of_a_rebase_the_branch_counts(git, source, root, worker, store):
    sha = worker.commit_file("README", "worker\n")
    source.commit_file("README", "upstream\n")
    root.run("fetch", "--quiet")
    rebase_onto(git, worker.path, "origin/main")
    now = present(git, worker, store)
    assert (now.commit, now.uncommitted) == (sha, False)


def test_changes_by_their_kind(git, worker, store):
    start = worker.sha()
    worker.file("README").rename(worker.file("renamed"))
    worker.write("a b", "x\n")
    first = worker.commit("first")
    worker.write("a b", "y\n")
    second = worker.commit("second")
    found = changes_between(git, worker.path, start, first, store)
    assert (found.added, found.changed, found.removed) == ({"renamed", "a b"}, set(), {"README"})
    assert changes_between(git, worker.path, first, second, store).changed == {"a b"}
