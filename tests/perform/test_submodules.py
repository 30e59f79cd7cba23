"""Submodules of worktrees: from the person's own checkout, with their addresses, deaf to what agents configure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llmc.model import Work
from testing.roots import make_repository
from testing.story import Story

LOCAL = ("-c", "protocol.file.allow=always")


@pytest.fixture
def nested(story: Story, tmp_path: Path) -> Story:
    """The person's repository has a submodule by a relative address, and that one has another."""
    upstream = tmp_path / "upstream"
    for name in ("inner", "lib", "app"):
        make_repository(upstream / name)
    story.git(*LOCAL, "submodule", "add", "--quiet", "../inner", "deep/inner", cwd=str(upstream / "lib"))
    story.git("commit", "--quiet", "-am", "With inner", cwd=str(upstream / "lib"))
    story.git(*LOCAL, "submodule", "add", "--quiet", "../lib", "lib", cwd=str(upstream / "app"))
    story.git("commit", "--quiet", "-am", "With lib", cwd=str(upstream / "app"))
    story.git(
        *LOCAL, "clone", "--quiet", "--recursive", str(upstream / "app"), str(story.repository), cwd=str(tmp_path)
    )
    story.llmc("init", "--source", str(story.repository), "--target", story.root.path)
    with open(story.root.config_file, "a", encoding="utf-8") as config:
        config.write('\n[agents.demo]\nenv = { LLMC_DEMO_PACE = "0.01" }\n')
    story.llmc("config", "set", "repo.submodules", "true")
    story.llmc("add", "adam", "--agent", "demo")
    return story


def lib_of(story: Story) -> str:
    return f"{story.worker('adam').worktree_path}/lib"


def move_lib(story: Story) -> str:
    """The person commits in their own checkout of the submodule, which nobody else has, and takes that."""
    theirs = story.repository / "lib"
    (theirs / "more").write_text("more\n")
    story.git("add", "--all", cwd=str(theirs))
    story.git("commit", "--quiet", "-m", "More", cwd=str(theirs))
    story.git("commit", "--quiet", "-am", "Newer lib")
    return story.git("rev-parse", "HEAD", cwd=str(theirs))


@pytest.mark.lesson(60, "every new worktree is set up before its agent begins")
def test_they_come_from_the_checkout_where_there_is_no_network(nested: Story, tmp_path: Path) -> None:
    os.rename(tmp_path / "upstream", tmp_path / "away")
    nested.llmc("restart", "adam")
    assert Path(lib_of(nested), "deep/inner/README").read_text() == "one\ntwo\nthree\n"
    assert nested.git("remote", "get-url", "origin", cwd=lib_of(nested)) == str(tmp_path / "upstream/lib")
    inner = f"{lib_of(nested)}/deep/inner"
    assert nested.git("remote", "get-url", "origin", cwd=inner) == str(tmp_path / "upstream/inner")
    worktree = nested.worker("adam").worktree_path
    assert nested.git("submodule", "status", cwd=worktree).startswith(" ")
    assert nested.git("status", "--porcelain", cwd=worktree) == ""


def test_what_the_checkout_lacks_comes_from_where_it_belongs(nested: Story, tmp_path: Path) -> None:
    lib = tmp_path / "upstream/lib"
    (lib / "new").write_text("new\n")
    nested.git("add", "--all", cwd=str(lib))
    nested.git("commit", "--quiet", "-m", "Newer", cwd=str(lib))
    newer = nested.git("rev-parse", "HEAD", cwd=str(lib))
    nested.git("update-index", "--cacheinfo", f"160000,{newer},lib")
    nested.git("commit", "--quiet", "-m", "Newer lib")
    nested.llmc("nuke", "adam", "--yes")
    nested.llmc("add", "adam", "--agent", "demo")
    nested.llmc("restart", "adam")
    assert nested.git("rev-parse", "HEAD", cwd=lib_of(nested)) == newer
    assert nested.worker("adam").set_up


def test_they_follow_the_branch_with_each_task(nested: Story, tmp_path: Path) -> None:
    nested.llmc("restart", "adam")
    newer = move_lib(nested)
    nested.task("adam", "write a.txt x", "commit Add a")
    nested.look_until("adam", lambda: nested.worker("adam").work is Work.NEEDS_REVIEW)
    assert nested.git("rev-parse", "HEAD", cwd=lib_of(nested)) == newer
    assert nested.git("show", "--format=", "--name-only", "llmc/adam", cwd=nested.root.path) == "a.txt"


def test_they_follow_the_branch_through_a_rebase(nested: Story) -> None:
    nested.llmc("restart", "adam")
    sha = nested.commit_as("adam", "a.txt", "x\n", "Add a")
    nested.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha)
    newer = move_lib(nested)
    nested.llmc("rebase", "adam")
    assert nested.git("rev-parse", "HEAD", cwd=lib_of(nested)) == newer
    assert nested.git("status", "--porcelain", cwd=nested.worker("adam").worktree_path) == ""
    nested.llmc("accept", "adam")
    assert nested.subjects()[-2:] == ["Newer lib", "Add a"]


def test_what_agents_configure_is_not_run(nested: Story, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    nested.git("config", "submodule.lib.update", f"!touch {ran}", cwd=nested.root.path)
    nested.git("config", "submodule.lib.url", f"ext::sh -c touch% {ran}", cwd=nested.root.path)
    nested.llmc("restart", "adam")
    assert not ran.exists()
    assert Path(lib_of(nested), "README").exists()


def test_what_agents_configure_in_a_submodule_is_not_run_when_it_moves(nested: Story, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    nested.llmc("restart", "adam")
    lib = lib_of(nested)
    nested.git("config", "filter.bad.smudge", f"touch {ran}; cat", cwd=lib)
    nested.git("config", "core.hooksPath", str(tmp_path), cwd=lib)
    attributes = nested.git("rev-parse", "--path-format=absolute", "--git-path", "info/attributes", cwd=lib)
    Path(attributes).parent.mkdir(exist_ok=True)
    Path(attributes).write_text("* filter=bad\n")
    hook = tmp_path / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    newer = move_lib(nested)
    nested.llmc("reset", "adam", "--yes")
    assert not ran.exists()
    assert nested.git("-c", "core.hooksPath=/dev/null", "rev-parse", "HEAD", cwd=lib) == newer


def test_what_stands_in_the_place_of_a_submodule_is_kept(nested: Story) -> None:
    place = Path(nested.worker("adam").worktree_path, "lib")
    place.mkdir(exist_ok=True)
    nested.git("init", "--quiet", cwd=str(place))
    (place / "mine").write_text("kept\n")
    nested.llmc("restart", "adam")
    assert (place / "deep/inner/README").exists()
    (kept,) = Path(nested.root.path, "aside").glob("*/lib/files/mine")
    assert kept.read_text() == "kept\n"


def test_a_failure_is_one_of_the_setup(nested: Story, tmp_path: Path) -> None:
    os.rename(tmp_path / "upstream", tmp_path / "away")
    nested.git("submodule", "--quiet", "deinit", "--force", "--all")
    os.rename(nested.repository / ".git/modules", tmp_path / "modules")
    said = nested.llmc("restart", "adam", code=1)
    assert "its worktree was not set up: `git submodule` failed" in said.err
    os.rename(tmp_path / "away", tmp_path / "upstream")
    nested.llmc("restart", "adam")
    assert Path(lib_of(nested), "deep/inner/README").exists()
