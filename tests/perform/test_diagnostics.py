"""What is written down when somebody is called."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llmc.model import Session, Work
from llmc.perform import diagnostics
from llmc.perform.diagnostics import KEPT, latest_bundle, write_bundle
from testing.story import Story

SECRET = "sk-ant-api03-" + "x1Y2" * 8


def test_it_tells_all_that_is_known_and_no_secret(story: Story) -> None:
    story.begin("adam").up()
    story.crash("adam", f"say use {SECRET}", "write half.txt x", "hang")
    half = Path(story.worker("adam").worktree_path, "half.txt")
    story.until(half.exists)
    story.until(lambda: story.prompts("adam") == 1)
    written = write_bundle(story.site, story.worker("adam"), "it asks for a person")
    assert written is not None
    text = Path(written).read_text()
    assert "Why: it asks for a person" in text
    assert "● Write(half.txt)" in text
    assert "?? half.txt" in text
    assert "hook.prompt" in text
    assert '"work": "working"' in text
    assert SECRET not in text
    assert "[masked]" in text
    assert latest_bundle(story.root, "adam") == written


@pytest.mark.parametrize("autonomy", ["manual", "auto"])
def test_a_crash_leaves_the_last_screen_and_what_git_says(story: Story, autonomy: str) -> None:
    story.begin("adam", policy__autonomy=autonomy, policy__restart_backoff_secs="600").up()
    story.task("adam", f"say use {SECRET}", "write half.txt x", "signal 9")
    story.wait("adam", Work.WORKING, Session.CRASHED)
    story.until(lambda: "what is known is in" in story.llmc("logs", "adam").out)
    text = Path(latest_bundle(story.root, "adam") or "").read_text()
    assert "the agent crashed (signal 9)" in text
    assert "● Write(half.txt)" in text
    assert "?? half.txt" in text
    assert SECRET not in text


def test_it_is_written_whatever_cannot_be_seen(story: Story) -> None:
    story.begin("adam")
    worker = story.rewrite("adam", work=Work.ERROR, session=Session.CRASHED)
    story.site.host.remove_tree(worker.worktree_path)
    written = write_bundle(story.site, worker, "why")
    assert written is not None
    text = Path(written).read_text()
    assert "(it has no terminal)" in text
    assert "(not known: " in text


def test_only_the_newest_are_kept_and_each_is_found_by_its_worker(story: Story) -> None:
    story.begin("adam", "adam-2")
    directory = Path(story.root.diagnostics)
    directory.mkdir()
    for number in range(KEPT + 5):
        old = directory / f"baker-20200101-{number:06d}.txt"
        old.write_text("old")
        os.utime(old, (number, number))
    mine = write_bundle(story.site, story.worker("adam"), "why")
    other = write_bundle(story.site, story.worker("adam-2"), "why")
    assert len(list(directory.iterdir())) == KEPT
    assert (latest_bundle(story.root, "adam"), latest_bundle(story.root, "adam-2")) == (mine, other)
    assert latest_bundle(story.root, "nobody") is None


def test_a_disk_that_refuses_stands_in_nobodys_way(story: Story) -> None:
    story.begin("adam")
    Path(story.root.diagnostics).write_text("a file in its place")
    assert write_bundle(story.site, story.worker("adam"), "why") is None
    assert diagnostics.latest_bundle(story.root, "adam") is None
