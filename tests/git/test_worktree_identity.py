from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from llmc.git.worktree_identity import foreign_git


def words(root):
    return foreign_git(root.git.host, root.path, "adam")


def test_a_worktree_of_ours_is_ours(root, worker):
    assert words(root) is None


def test_relative_pointers_are_as_good(root, worker):
    worker.write(".git", "gitdir: ../../.git/worktrees/adam\n")
    Path(root.path, ".git/worktrees/adam/gitdir").write_text("../../../.worktrees/adam/.git\n")
    assert words(root) is None


def test_a_root_behind_a_link_is_the_same_root(root, worker, tmp_path):
    (tmp_path / "link").symlink_to(root.path)
    assert foreign_git(root.git.host, str(tmp_path / "link"), "adam") is None


def own_repository(root, worker):
    worker.file(".git").unlink()
    worker.run("init", "--quiet")


def gone(root, worker):
    worker.file(".git").unlink()


def empty(root, worker):
    worker.write(".git", "")


def named_pipe(root, worker):
    worker.file(".git").unlink()
    os.mkfifo(worker.file(".git"))


def linked(root, worker):
    worker.file(".git").rename(worker.file("kept"))
    worker.file(".git").symlink_to("kept")


def of_another_worktree(root, worker):
    worker.write(".git", root.worker("eve").file(".git").read_bytes())


def record_removed(root, worker):
    shutil.rmtree(Path(root.path, ".git/worktrees/adam"))


def record_of_another_place(root, worker):
    Path(root.path, ".git/worktrees/adam/gitdir").write_text("/somewhere/.git\n")


def record_of_another_clone(root, worker):
    Path(root.path, ".git/worktrees/adam/commondir").write_text("/somewhere/.git\n")


def directory_gone(root, worker):
    shutil.rmtree(worker.path)


def directory_linked(root, worker):
    shutil.move(worker.path, f"{root.path}/moved")
    Path(worker.path).symlink_to(f"{root.path}/moved")


@pytest.mark.parametrize(
    ("happens", "told"),
    [
        (own_repository, "its .git is a repository of its own"),
        (gone, "its .git is gone"),
        (empty, "its .git cannot be read"),
        (named_pipe, "its .git cannot be read"),
        (linked, "its .git is a link to another place"),
        (of_another_worktree, "its .git belongs to another repository"),
        (record_removed, "the clone has no usable record of it"),
        (record_of_another_place, "the clone's record of it names another place"),
        (record_of_another_clone, "the clone's record of it belongs to another repository"),
        (directory_gone, "its directory is gone"),
        (directory_linked, "its directory is a link to another place"),
    ],
)
def test_a_worktree_of_somebody_else_is_told(root, worker, happens, told):
    happens(root, worker)
    assert words(root) == told
