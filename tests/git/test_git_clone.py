from __future__ import annotations

import os
import shutil
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from llmc.git.clone import (
    BranchMissingError,
    CloneError,
    SourceGoneError,
    clone_source,
    fetch_source,
    has_lfs,
    note_moved,
)
from llmc.git.failure import GitError
from llmc.git.repository import heads, is_bare, resolve
from llmc.git.runner import Git
from llmc.git.worktree import add_worktree
from llmc.host.local import LocalHost
from testing.landing import land_now as land

DISKS = (Path("/dev/shm"), Path("/var/tmp"))


def test_clone_is_bare_and_tracks_the_source(git, source, root):
    assert is_bare(git, root.path)
    assert heads(git, root.path) == {}
    assert root.run("config", "remote.origin.url") == source.path
    assert root.run("config", "remote.origin.fetch") == "+refs/heads/*:refs/remotes/origin/*"
    assert root.run("symbolic-ref", "refs/remotes/origin/HEAD") == "refs/remotes/origin/main"
    assert root.run("config", "rerere.enabled") == "true"
    assert root.run("config", "rerere.autoupdate") == "true"
    assert root.sha("origin/main") == source.sha()
    assert root.run("for-each-ref", "--format=%(refname)").split() == [
        "refs/llmc/upstream/main",
        "refs/remotes/origin/HEAD",
        "refs/remotes/origin/main",
    ]


def test_clone_has_no_hooks_and_leaves_nothing_else_behind(source, git, tmp_path):
    template = tmp_path / "template" / "hooks"
    template.mkdir(parents=True)
    (template / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    git.run(str(tmp_path), "config", "--global", "init.templateDir", str(template.parent))
    clone_source(git, source.path, str(tmp_path / "llmc"), "main")
    assert sorted(os.listdir(tmp_path / "llmc")) == [".git", "run"]
    assert not (tmp_path / "llmc/.git/hooks").exists()


def test_clone_shares_objects_by_hard_links(source, root):
    inodes = {path.stat().st_ino for path in Path(source.path, ".git/objects").rglob("*") if path.is_file()}
    assert inodes & {path.stat().st_ino for path in Path(root.path, ".git/objects").rglob("*") if path.is_file()}


def test_clone_into_a_directory_that_already_has_files(git, source, tmp_path):
    (tmp_path / "llmc").mkdir()
    (tmp_path / "llmc/config.toml").write_text("x = 1\n")
    clone_source(git, source.path, str(tmp_path / "llmc"), "main")
    assert (tmp_path / "llmc/config.toml").read_text() == "x = 1\n"


def test_clone_keeps_who_the_user_is_in_that_repository(git, source, tmp_path):
    work = tmp_path / "work-config"
    work.write_text("[user]\n email = tess@work.example\n[commit]\n gpgSign\n")
    git.run(str(tmp_path), "config", "--global", f"includeIf.gitdir:{source.path}/.path", str(work))
    source.run("config", "user.name", "Tess at Work")
    clone_source(git, source.path, str(tmp_path / "llmc"), "main")
    local = git.text(str(tmp_path / "llmc"), "config", "--local", "--list").splitlines()
    assert "user.name=Tess at Work" in local
    assert "user.email=tess@work.example" in local
    assert "commit.gpgsign=true" in local


def test_clone_holds_the_identity_itself_for_agents_that_hide_the_users_settings(git, source, tmp_path):
    clone_source(git, source.path, str(tmp_path / "llmc"), "main")
    local = replace(git, as_agents=True).text(str(tmp_path / "llmc"), "config", "--local", "--list").splitlines()
    assert f"user.email={git.text(source.path, 'config', 'user.email')}" in local


def test_clone_ignores_what_the_user_ignores_privately(git, source, tmp_path):
    source.write(".git/info/exclude", "private/\n")
    clone_source(git, source.path, str(tmp_path / "llmc"), "main")
    assert (tmp_path / "llmc/.git/info/exclude").read_text() == "private/\n"


def test_clone_over_a_repository_is_refused(git, source, tmp_path):
    (tmp_path / "mine").mkdir()
    git.run(str(tmp_path / "mine"), "init", "--quiet")
    with pytest.raises(CloneError, match="already holds"):
        clone_source(git, source.path, str(tmp_path / "mine"), "main")
    assert (tmp_path / "mine/.git/HEAD").exists()


def test_clone_that_was_cut_short_is_begun_again(source, tmp_path):
    root = str(tmp_path / "llmc")

    class Dying(LocalHost):
        def run(self, argv, **options):
            if "symbolic-ref" in argv:
                raise KeyboardInterrupt
            return super().run(argv, **options)

    with pytest.raises(KeyboardInterrupt):
        clone_source(Git(Dying()), source.path, root, "main")
    git = Git(LocalHost())
    clone_source(git, source.path, root, "main")
    assert git.text(root, "rev-parse", "origin/HEAD") == source.sha()
    assert sorted(os.listdir(root)) == [".git", "run"]


def test_clone_of_no_repository(git, tmp_path):
    (tmp_path / "plain").mkdir()
    with pytest.raises(CloneError, match="not a git repository"):
        clone_source(git, str(tmp_path / "plain"), str(tmp_path / "llmc"), "main")
    assert not (tmp_path / "llmc").exists()


def test_clone_of_an_empty_repository(git, make_repo, tmp_path):
    with pytest.raises(BranchMissingError, match="no branch main"):
        clone_source(git, make_repo("empty").path, str(tmp_path / "llmc"), "main")


def test_clone_of_a_shallow_source_lands_back(git, source, tmp_path):
    source.commit_file("a", "a\n")
    source.commit_file("b", "b\n")
    git.run(str(tmp_path), "clone", "--quiet", "--depth=1", f"file://{source.path}", "shallow")
    shallow, root = str(tmp_path / "shallow"), str(tmp_path / "llmc")
    clone_source(git, shallow, root, "main")
    assert git.text(root, "rev-parse", "--is-shallow-repository") == "true"
    base = git.text(root, "rev-parse", "origin/main")
    tree = add_worktree(git, root, "adam", "llmc/adam", base)
    git.run(tree, "commit", "--quiet", "--allow-empty", "-m", "work")
    head = git.text(tree, "rev-parse", "HEAD")
    land(git, shallow, root, "main", base, "refs/heads/llmc/adam")
    assert resolve(git, shallow, "main") == head
    assert fetch_source(git, shallow, root, "main") == head


def test_clone_of_a_bare_source(git, source, tmp_path):
    git.run(str(tmp_path), "clone", "--quiet", "--bare", source.path, "bare.git")
    clone_source(git, str(tmp_path / "bare.git"), str(tmp_path / "llmc"), "main")
    assert resolve(git, str(tmp_path / "llmc"), "origin/main") == source.sha()


def test_clone_falls_back_where_objects_are_behind_a_link(git, source, tmp_path):
    shutil.move(f"{source.path}/.git/objects", tmp_path / "objects")
    source.file(".git/objects").symlink_to(tmp_path / "objects")
    clone_source(git, source.path, str(tmp_path / "llmc"), "main")
    assert resolve(git, str(tmp_path / "llmc"), "origin/main") == source.sha()


def test_clone_falls_back_where_links_cannot_reach(git, source):
    here = Path(source.path).stat().st_dev
    elsewhere = next((disk for disk in DISKS if disk.is_dir() and disk.stat().st_dev != here), None)
    if elsewhere is None:
        pytest.skip("needs a second file system")
    with tempfile.TemporaryDirectory(dir=elsewhere) as other:
        clone_source(git, source.path, f"{other}/llmc", "main")
        assert resolve(git, f"{other}/llmc", "origin/main") == source.sha()


def test_fetch_brings_the_new_tip(git, source, root):
    sha = source.commit_file("new", "x")
    assert fetch_source(git, source.path, root.path, "main") == sha
    assert root.sha("origin/main") == sha


def test_fetch_follows_rewritten_history(git, source, root):
    source.run("commit", "--quiet", "--amend", "-m", "rewritten")
    assert fetch_source(git, source.path, root.path, "main") == source.sha()


@pytest.mark.parametrize("fetched", [False, True], ids=["alone", "while somebody fetches"])
def test_a_branch_that_llmc_moved_is_known_as_after_a_fetch(git, source, root, fetched):
    old = fetch_source(git, source.path, root.path, "main")
    new = source.commit_file("new", "x")
    root.run("fetch", "--quiet", source.path, "main")
    newest = source.commit_file("newer", "x") if fetched else new
    if fetched:
        fetch_source(git, source.path, root.path, "main")
    note_moved(git, source.path, root.path, "main", old, new)
    assert root.sha("origin/main") == root.sha("refs/llmc/upstream/main") == newest


def test_fetches_at_the_same_time_agree(git, source, root):
    sha = source.commit_file("new", "x")
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(fetch_source(git, source.path, root.path, "main")))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [sha] * 4


def test_fetch_when_the_source_is_gone(git, source, root):
    shutil.rmtree(source.path)
    with pytest.raises(SourceGoneError, match=f"no git repository at {source.path}") as caught:
        fetch_source(git, source.path, root.path, "main")
    assert "llmc config set repo.source" in caught.value.hint


def test_fetch_when_the_branch_is_gone(git, source, root):
    source.run("branch", "-m", "trunk")
    with pytest.raises(BranchMissingError, match="no branch main"):
        fetch_source(git, source.path, root.path, "main")


def test_fetch_that_fails_otherwise_stays_a_git_error(git, root, source):
    root.file("run/git/config").write_text("[remote")
    with pytest.raises(GitError):
        fetch_source(git, source.path, root.path, "main")


@pytest.mark.skipif(shutil.which("git-lfs") is None, reason="git-lfs is not installed")
def test_large_files_go_to_the_worktree_and_back(git, source, tmp_path):
    assert has_lfs(git)
    source.run("lfs", "install", "--local")
    source.run("lfs", "track", "*.bin")
    source.write("a.bin", b"\0large" * 100)
    source.commit()
    root = str(tmp_path / "llmc")
    clone_source(git, source.path, root, "main")
    tree = add_worktree(git, root, "adam", "llmc/adam", source.sha())
    assert Path(tree, "a.bin").read_bytes() == b"\0large" * 100
    Path(tree, "b.bin").write_bytes(b"\0more" * 100)
    agents = replace(git, as_agents=True)
    agents.run(tree, "add", "b.bin")
    agents.run(tree, "commit", "--quiet", "-m", "more")
    land(git, source.path, root, "main", source.sha(), "refs/heads/llmc/adam")
    assert source.file("b.bin").read_bytes() == b"\0more" * 100
    assert source.status() == ""
