"""A worker whose agent is a plain shell: it runs what it is sent, so it gets the person's words alone."""

from __future__ import annotations

import time
from pathlib import Path

from llmc.care.catch_up import work_news
from llmc.model import Session, Turn, Work
from llmc.perform.steps import settle
from testing.story import Story, end_abruptly


def test_a_task_is_the_command_alone_and_so_is_a_rejection(story: Story) -> None:
    story.begin("sam", agent="shell", policy__commit_grace_secs="1").up()
    story.llmc("start", "--worker", "sam", "--prompt", "echo one > out.txt; git add -A; git commit -qm 'Add out'")
    story.wait("sam", Work.NEEDS_REVIEW)
    story.llmc("reject", "sam", "echo two > out.txt; git commit -qam 'Say two'")
    story.wait("sam", Work.NEEDS_REVIEW)
    assert story.git("show", "llmc/sam:out.txt", cwd=story.root.path) == "two"
    screen = story.screen("sam")
    assert "command not found" not in screen
    assert "You work in" not in screen
    assert "reviewed" not in screen


def test_a_command_is_not_run_a_second_time_by_itself(story: Story) -> None:
    story.begin("sam", agent="shell", policy__autonomy="auto", policy__restart_backoff_secs="0.2").up()
    story.llmc("start", "--worker", "sam", "--prompt", "echo once >> ../../counted; exec sleep 1000")
    counted = Path(story.root.path, "counted")
    story.until(counted.exists)
    end_abruptly(story.pane("sam").pid)
    story.until(lambda: any("is back" in event.detail for event in story.events("sam", "notice")))
    assert story.wait("sam", Work.WORKING, Session.UP).crash_count == 1
    assert counted.read_text() == "once\n"


def test_a_silent_shell_is_shown_and_not_asked(story: Story) -> None:
    story.begin("sam", agent="shell", policy__autonomy="auto").up()
    story.llmc("start", "--worker", "sam", "--prompt", "sleep 1000")
    story.llmc("down", "--force")
    story.rewrite("sam", session=Session.UP, turn=Turn.UNKNOWN, last_activity_unix=time.time() - 7200)
    notices = [
        notice.text for decision in work_news(story.site, story.site.worker("sam")) for notice in decision.notices
    ]
    assert notices == ["sam gives no sign of life for 2h; `llmc peek sam` shows its terminal"]
    assert story.worker("sam").pending == ()


def test_conflicts_are_for_the_person(story: Story) -> None:
    story.begin("sam", agent="shell")
    sha = story.commit_as("sam", "README", "of sam\n", "Ours")
    story.rewrite("sam", work=Work.NEEDS_REVIEW, commit_sha=sha, turn=Turn.OVER)
    story.commit_upstream("README", "of the user\n", "Theirs")
    said = story.llmc("rebase", "sam")
    assert said.out == "sam: conflicts in README; resolve them yourself: `llmc attach sam`\n"
    worker = story.worker("sam")
    assert (worker.work, worker.conflicted_files, worker.pending) == (Work.REBASING, ("README",), ())

    Path(worker.worktree_path, "README").write_text("of both\n")
    story.git("add", "README", cwd=worker.worktree_path)
    story.git("rebase", "--continue", cwd=worker.worktree_path)
    work_news(story.site, story.site.worker("sam"))
    settle(story.site, "sam")
    assert story.worker("sam").work is Work.NEEDS_REVIEW


def test_a_worktree_that_became_another_repository_is_told(story: Story) -> None:
    """The turn is over, whatever git says in there."""
    story.begin()
    story.llmc("add", "sam", "--agent", "shell")
    story.up()
    story.llmc("start", "--worker", "sam", "--prompt", "rm .git && git init -q && git add -A && git commit -qm 'All'")
    story.wait("sam", Work.NEEDS_INPUT)
    told = "its worktree is not LLMC's any more: its .git is a repository of its own; `llmc doctor` says what to do"
    assert told in story.llmc("explain", "sam").out
