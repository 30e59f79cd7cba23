"""`llmc review` with every way of showing a diff, with and without the program that does it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from llmc.model import Turn, Work
from testing.story import Story

NEEDED = ("git", "tmux", "sh", "cat", "env")


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    """A worker with work to review, and a PATH with nothing but what is needed."""
    story = Story(tmp_path).begin("adam")
    sha = story.commit_as("adam", "a.txt", "added line\n", "Add a")
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha, current_prompt="Add a", turn=Turn.OVER)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in NEEDED:
        (programs / name).symlink_to(shutil.which(name) or "")
    monkeypatch.setenv("PATH", str(programs))
    return story


def install(story: Story, name: str, script: str) -> None:
    program = Path(os.environ["PATH"], name)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


@pytest.mark.parametrize(("interface", "program"), [("difftastic", "difft"), ("delta", "delta"), ("vscode", "code")])
def test_without_the_program_the_plain_diff_is_shown(story: Story, interface: str, program: str) -> None:
    said = story.llmc("review", "adam", "--interface", interface)
    assert f"{program} is not installed" in said.out
    assert "+added line" in said.out


@pytest.mark.parametrize("words", [(), ("--interface", "diff")])
def test_the_plain_diff(story: Story, words: tuple[str, ...]) -> None:
    said = story.llmc("review", "adam", *words)
    assert "+added line" in said.out
    assert "not installed" not in said.out


def test_the_files_alone(story: Story) -> None:
    assert "a.txt | 1 +" in story.llmc("review", "adam", "--interface", "stat").out


def test_difftastic_is_given_both_sides(story: Story) -> None:
    install(story, "difft", 'echo "difft of $1"; cat "$5"')
    said = story.llmc("review", "adam", "--interface", "difftastic")
    assert "difft of a.txt" in said.out
    assert "added line" in said.out


def test_delta_is_given_the_diff(story: Story) -> None:
    install(story, "delta", 'echo "delta $1"; cat')
    said = story.llmc("review", "adam", "--interface", "delta")
    assert "delta --paging=never" in said.out
    assert "+added line" in said.out


def test_vs_code_opens_the_worktree(story: Story) -> None:
    install(story, "code", f'echo "$@" > {story.place}/opened')
    said = story.llmc("review", "adam", "--interface", "vscode")
    assert "in VS Code" in said.out
    assert (story.place / "opened").read_text().strip() == story.worker("adam").worktree_path


def test_a_viewer_that_fails_falls_back_to_the_plain_diff(story: Story) -> None:
    for name in ("difft", "delta", "code"):
        install(story, name, "echo broken >&2; exit 1")
    for interface in ("difftastic", "delta", "vscode"):
        said = story.llmc("review", "adam", "--interface", interface)
        assert "+added line" in said.out, interface


def test_what_was_reviewed_is_what_is_accepted(story: Story) -> None:
    story.llmc("review")
    assert story.site.ledger.load().last_reviewed_worker == "adam"
    assert "accepted as" in story.llmc("accept").out
    assert story.subjects() == ["first", "Add a"]


def test_review_shows_the_work_as_it_would_land(story: Story) -> None:
    story.commit_upstream("hand.txt", "h\n", "By hand")
    answer = story.json("review", "adam")
    assert answer["base_sha"] == story.git("rev-parse", "main")
    assert "hand.txt" not in answer["diff"]
    assert answer["commit_sha"] == story.git("rev-parse", "llmc/adam", cwd=story.root.path)
