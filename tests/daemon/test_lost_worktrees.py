"""A worktree that somebody has removed by hand: noticed, told or made again, and the agent runs in the new one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from llmc.model import Session, Work
from testing.story import Story


def remove_worktree(story: Story) -> None:
    shutil.rmtree(story.worker("adam").worktree_path)


def runs_in_worktree(story: Story) -> bool:
    """A process whose directory was removed is shown with a mark."""
    return os.readlink(f"/proc/{story.pane('adam').pid}/cwd") == story.worker("adam").worktree_path


def notices(story: Story) -> list[str]:
    return [event.detail for event in story.events("adam", "notice") if "worktree" in event.detail]


def works(story: Story) -> None:
    story.work("adam", "write b.txt x", "commit Add b")
    assert Path(story.worker("adam").worktree_path, "b.txt").exists()


def pid_of_pane(story: Story) -> int | None:
    """None between the end of one terminal and the next."""
    pane = story.site.tmux.panes().get("llmc-adam")
    return pane.pid if pane is not None else None


@pytest.mark.parametrize("autonomy", ["assist", "auto"])
def test_it_is_made_again_and_the_agent_started_in_it(story: Story, autonomy: str) -> None:
    story.begin("adam", policy__autonomy=autonomy).up()
    sha = story.work("adam", "write a.txt x", "commit Add a").commit_sha
    before = story.pane("adam").pid
    remove_worktree(story)
    story.until(lambda: not story.worker("adam").worktree_lost and pid_of_pane(story) not in (None, before))
    back = story.wait("adam", Work.NEEDS_REVIEW, Session.UP)
    assert (back.commit_sha, runs_in_worktree(story)) == (sha, True)
    assert Path(back.worktree_path, "a.txt").exists()
    assert notices(story) == [
        "adam: its worktree is gone; it is made again from its branch, and its agent is started in it"
    ]
    story.llmc("accept", "adam")
    works(story)


@pytest.mark.parametrize("words", [("restart", "adam"), ("doctor", "--repair", "--yes")])
def test_under_manual_it_is_told_once_with_what_to_type(story: Story, words: tuple[str, ...]) -> None:
    story.begin("adam").up()
    remove_worktree(story)
    story.until(lambda: story.worker("adam").worktree_lost)
    pid = story.pane("adam").pid
    told = "adam: its worktree is gone; `llmc restart adam` makes it again from its branch"
    story.until(lambda: notices(story) == [told])
    assert "its worktree is gone; `llmc restart adam` makes it again" in story.llmc("explain", "adam").out
    assert "adam's worktree is gone" in story.llmc("start", "--worker", "adam", "--prompt", "x", code=1).err
    story.llmc("patrol")
    assert (notices(story), story.pane("adam").pid) == ([told], pid), "nobody acts unasked"

    story.llmc(*words)
    story.wait("adam", Work.IDLE, Session.UP)
    story.until(lambda: not story.worker("adam").worktree_lost)
    assert runs_in_worktree(story)
    works(story)


def test_without_a_daemon_a_restart_makes_it_again(story: Story) -> None:
    story.begin("adam")
    remove_worktree(story)
    story.llmc("restart", "adam")
    assert not story.worker("adam").worktree_lost
    assert runs_in_worktree(story)
