"""A worktree that somebody removed is made again, and one that is there stays as it is."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from llmc.doctor.checks import look_twice, repairs_for
from llmc.doctor.repairs import RepairContext, carry_out
from llmc.host.local import LocalHost
from llmc.perform.worktrees import restore_worktree
from testing.story import Story


@pytest.fixture
def place(story: Story) -> Path:
    story.begin("adam")
    worktree = Path(story.worker("adam").worktree_path)
    shutil.rmtree(worktree)
    return worktree


def test_of_two_who_make_it_again_the_second_leaves_what_was_done_meanwhile(story: Story, place: Path) -> None:
    restore_worktree(story.site, story.worker("adam"))
    (place / "README").write_text("changed since\n")
    (place / "new.txt").write_text("written since\n")
    assert "there again" in restore_worktree(story.site, story.worker("adam"))
    assert (place / "README").read_text() == "changed since\n"
    assert (place / "new.txt").read_text() == "written since\n"


def test_a_repair_that_was_planned_before_another_was_made_takes_nothing_away(story: Story, place: Path) -> None:
    planned = [each for each in repairs_for(look_twice(LocalHost(), story.root)[1]) if each.worker == "adam"]
    assert planned
    restore_worktree(story.site, story.worker("adam"))
    (place / "new.txt").write_text("written since\n")
    for each in planned:
        carry_out(RepairContext(story.root, LocalHost(), time.time(), lambda: story.site), each)
    assert (place / "new.txt").read_text() == "written since\n"
