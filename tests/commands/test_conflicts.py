"""What a person learns of conflicts to come: by asking, with and without a daemon, and in the status."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.model import Work
from testing.story import Story, told_in


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    with told_in(tmp_path) as story:
        yield story.begin("adam", "baker")


def write(story: Story, name: str, content: str) -> None:
    Path(story.worker(name).worktree_path, "new.txt").write_text(content)


def test_nothing_ahead_is_said(story: Story) -> None:
    assert story.llmc("conflicts").out.startswith("no conflicts ahead: 0 workers with work in flight, looked at ")


def test_without_a_daemon_it_looks_itself(story: Story) -> None:
    story.commit_as("adam", "README", "of adam\n", "Ours")
    story.commit_upstream("README", "of the user\n", "Theirs")
    write(story, "adam", "of adam\n")
    write(story, "baker", "of baker\n")
    said = story.llmc("conflicts").out.splitlines()
    assert said[:-1] == [
        "adam conflicts with main (with uncommitted files) in README (content)",
        "adam and baker conflict with each other (with uncommitted files) in new.txt (added by both)",
    ]
    assert said[-1].startswith("2 workers with work in flight, looked at ")
    document = story.json("conflicts")
    assert document["source"] == "now"
    assert document["with_each_other"] == [
        {"workers": ["adam", "baker"], "files": [{"path": "new.txt", "kind": "added by both"}]}
    ]
    assert list(Path(story.root.run).glob("radar*")) == [], "nothing is left behind"


def test_the_daemon_keeps_it_current_and_the_status_shows_it(story: Story) -> None:
    story.up()
    story.task("adam", "write new.txt of adam", "sleep 1000")
    story.work("baker", "write new.txt of baker", "commit Add new")
    line = "! adam will conflict with baker in new.txt"
    story.until(lambda: line in story.llmc("status").out)
    shown = {worker["name"]: worker["conflicts"] for worker in story.json("status")["workers"]}
    assert shown["adam"]["with_workers"] == {"baker": ["new.txt"]}
    assert shown["baker"]["with_workers"] == {"adam": ["new.txt"]}
    assert shown["adam"]["with_branch"] == []
    assert shown["adam"]["age_secs"] >= 0
    story.until(lambda: story.json("conflicts")["source"] == "daemon")
    assert story.json("conflicts", "--fresh")["source"] == "now"

    story.llmc("accept", "baker")
    story.until(lambda: "! adam will conflict with main in new.txt" in story.llmc("status").out)
    assert story.worker("adam").work is Work.WORKING
    story.llmc("reset", "adam", "--yes")
    story.until(lambda: "!" not in story.llmc("status").out)


def test_what_the_daemon_saw_before_the_newest_commit_is_not_told(story: Story) -> None:
    story.up()
    story.until(lambda: story.json("conflicts")["source"] == "daemon")
    os.kill(story.daemon(), signal.SIGSTOP)  # it runs, and sees nothing more
    try:
        story.commit_as("adam", "README", "of adam\n", "Ours")
        assert story.json("conflicts")["source"] == "now"
        assert story.json("conflicts")["workers"]["adam"]["files_touched"] == 1
        story.commit_upstream("README", "of the user\n", "Theirs")
        assert "adam conflicts with main in README (content)" in story.llmc("conflicts").out
    finally:
        os.kill(story.daemon(), signal.SIGCONT)
    story.until(lambda: story.json("conflicts")["source"] == "daemon")


@pytest.mark.lesson(23, "status tells what is there, and how old that knowledge is")
def test_what_nobody_keeps_current_is_not_shown_as_if_it_were(story: Story) -> None:
    seen = {"at_unix": 0, "files_touched": 1, "with_branch": [{"path": "f", "kind": "content"}]}
    cache = {"schema": 1, "branch": "main", "workers": {"adam": seen}, "with_each_other": []}
    Path(story.root.radar_file).write_text(json.dumps(cache))
    assert "conflict" not in story.llmc("status").out
    assert story.json("status")["workers"][0]["conflicts"]["age_secs"] > 1000
    assert story.json("conflicts")["source"] == "now"


@pytest.mark.parametrize("broken", ["{", "[]", '{"schema": 99}', ""])
def test_a_broken_cache_is_no_cache(story: Story, broken: str) -> None:
    Path(story.root.radar_file).write_text(broken)
    assert story.json("status")["workers"][0]["conflicts"] is None
