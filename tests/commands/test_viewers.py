"""`llmc review` with every way of showing a diff, with and without the program that does it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from llmc.model import Turn, Work
from testing.at_terminal import run_at_terminal
from testing.commands import PROGRAM
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


def test_difftastic_is_given_both_sides_and_the_width(story: Story) -> None:
    install(story, "difft", 'echo "difft $1 $2 $3 $4"; cat "$6/a.txt"; cat "$5/a.txt" 2>&1 || true')
    said = story.llmc("review", "adam", "--interface", "difftastic")
    assert "difft --color never --width 120" in said.out
    assert "added line" in said.out


def test_nothing_in_a_file_can_act_on_the_terminal_through_difftastic(story: Story) -> None:
    sha = story.commit_as("adam", "b.txt", "hidden \x1b[8mlines\x1b[0m\n", "Add b")
    story.rewrite("adam", commit_sha=sha)
    install(story, "difft", 'cat "$6/b.txt"')
    said = story.llmc("review", "adam", "--interface", "difftastic")
    assert "hidden" in said.out
    assert "\x1b" not in said.out


def test_delta_is_given_the_diff(story: Story) -> None:
    install(story, "delta", 'echo "delta $1"; cat')
    said = story.llmc("review", "adam", "--interface", "delta")
    assert "delta --paging=never" in said.out
    assert "+added line" in said.out


def test_vs_code_shows_each_file_before_and_after(story: Story) -> None:
    (Path(story.worker("adam").worktree_path) / "README").unlink()
    story.git("add", "--all", cwd=story.worker("adam").worktree_path)
    sha = story.commit_as("adam", "a.txt", "other line\n", "Change a")
    story.rewrite("adam", commit_sha=sha)
    install(story, "code", f'echo "$1 $2" >> {story.place}/opened; cat "$3" "$4" >> {story.place}/opened')
    said = story.llmc("review", "adam", "--interface", "vscode")
    assert "opened 2 files in VS Code" in said.out
    opened = (story.place / "opened").read_text().splitlines()
    assert opened[0] == "--new-window --diff"
    assert "--reuse-window --diff" in opened
    assert "other line" in opened


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


def test_review_begins_with_what_matters(story: Story) -> None:
    Path(story.worker("adam").worktree_path, "left.txt").write_text("not committed\n")
    shown = story.llmc("review", "adam").out.partition("diff --git")[0]
    assert "Add a" in shown
    assert "1 file changed, 1 insertion(+)" in shown
    assert "none are set (repo.validate)" in shown
    assert "accept would refuse it now" in shown
    assert "left.txt" in shown


def test_review_says_with_whom_it_will_conflict(tmp_path: Path) -> None:
    story = Story(tmp_path).begin("adam", "baker")
    for name in ("adam", "baker"):
        sha = story.commit_as(name, "same.txt", f"by {name}\n", f"Add same by {name}")
        story.rewrite(name, work=Work.NEEDS_REVIEW, commit_sha=sha, current_prompt="Add same", turn=Turn.OVER)
    assert "will conflict with baker in same.txt" in story.llmc("review", "adam").out


@pytest.mark.parametrize(
    ("pager", "seen"),
    [("sed s/added/PAGED/", "PAGED line"), ("no-such-pager", "added line"), ("cat >&2; false", "added line")],
)
def test_at_a_terminal_the_diff_is_coloured_and_paged_as_git_would(story: Story, pager: str, seen: str) -> None:
    (Path(os.environ["PATH"]) / "sed").symlink_to("/bin/sed")
    env = {**os.environ, "GIT_PAGER": pager, "TERM": "xterm"}
    words = [str(PROGRAM), "--root", story.root.path, "review", "adam"]
    code, shown = run_at_terminal(words, env, story.place)
    assert code == 0
    assert seen in shown
    assert "\x1b[32m+" in shown
    code, shown = run_at_terminal(words, {**env, "NO_COLOR": "1"}, story.place)
    assert "\x1b[" not in shown


def test_files_whose_names_look_the_same_are_both_shown(story: Story) -> None:
    worktree = Path(story.worker("adam").worktree_path)
    (worktree / "tool\x01.py").write_text("evil\n")
    story.git("add", "--all", cwd=str(worktree))
    sha = story.commit_as("adam", "tool\x02.py", "fine\n", "Add tools")
    story.rewrite("adam", commit_sha=sha)
    install(story, "code", f'cat "$4" >> {story.place}/opened')
    story.llmc("review", "adam", "--interface", "vscode")
    assert {"evil", "fine"} <= set((story.place / "opened").read_text().split())


def test_what_is_no_text_cannot_act_on_the_terminal_through_difftastic(story: Story) -> None:
    worktree = Path(story.worker("adam").worktree_path)
    (worktree / "b.bin").write_bytes(b"\xff \x1b]0;owned\x07\n")
    story.git("add", "--all", cwd=str(worktree))
    sha = story.commit_as("adam", "c.txt", "c\n", "Add b")
    story.rewrite("adam", commit_sha=sha)
    install(story, "difft", 'cat "$6/b.bin"')
    assert "\x1b" not in story.llmc("review", "adam", "--interface", "difftastic").out


def test_what_could_not_be_shown_does_not_count_as_reviewed(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    install(story, "code", "exit 0")
    monkeypatch.setattr(tempfile, "tempdir", str(story.place / "nowhere"))
    assert story.try_llmc("review", "adam", "--interface", "vscode").code == 1
    assert story.worker("adam").reviewed is None


def test_a_link_in_the_root_leads_no_review_to_files_of_others(story: Story) -> None:
    theirs = story.place / "theirs" / "adam"
    theirs.mkdir(parents=True)
    (theirs / "precious").write_text("x")
    Path(story.root.path, "run", "review").symlink_to(theirs.parent)
    install(story, "code", "exit 0")
    story.llmc("review", "adam", "--interface", "vscode")
    assert (theirs / "precious").exists()
