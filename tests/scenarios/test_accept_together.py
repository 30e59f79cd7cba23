"""Several accepts: after one another, at once, twice for the same worker, and with a daemon that finishes one."""

from __future__ import annotations

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from llmc.host.faults import VARIABLE, Moment
from llmc.model import Turn, Work
from testing.story import Story, told_in
from testing.world import World

TWENTY = [f"w{number:02}" for number in range(20)]


def ready(story: Story, name: str, path: str, content: str = "x\n") -> str:
    sha = story.commit_as(name, path, content, f"Work of {name}")
    story.rewrite(name, work=Work.NEEDS_REVIEW, commit_sha=sha, turn=Turn.OVER)
    return sha


def assert_straight(story: Story, *subjects: str) -> None:
    """One commit each, in this order, no merges, and the checkout is where the branch is."""
    assert story.subjects()[-len(subjects) :] == [*subjects]
    assert story.git("rev-list", "--count", "--merges", "main") == "0"
    assert story.git("status", "--porcelain") == ""


def test_others_that_wait_are_brought_up_to_date(world: World) -> None:
    story = world.story
    ready(story, "adam", "a.txt")
    old = ready(story, "baker", "b.txt")
    plan = story.json("accept", "adam", "--dry-run")
    assert plan["steps"][-1]["workers"] == ["baker"]
    story.llmc("accept", "adam")
    baker = story.worker("baker")
    assert baker.work is Work.NEEDS_REVIEW
    assert baker.commit_sha not in (None, old)
    assert story.git("rev-parse", "llmc/baker~1", cwd=story.root.path) == story.git("rev-parse", "main")


def test_others_that_conflict_or_are_dirty_stay_as_they_are(world: World) -> None:
    story = world.story
    story.llmc("add", "carol", "--agent", "demo")
    ready(story, "adam", "a.txt", "adam\n")
    conflicting = ready(story, "baker", "a.txt", "baker\n")
    dirty = ready(story, "carol", "c.txt")
    Path(story.worker("carol").worktree_path, "half.txt").write_text("half\n")
    story.llmc("accept", "adam")
    assert (story.worker("baker").commit_sha, story.worker("baker").work) == (conflicting, Work.NEEDS_REVIEW)
    assert (story.worker("carol").commit_sha, story.worker("carol").work) == (dirty, Work.NEEDS_REVIEW)


def test_what_is_refused_does_not_keep_the_others_from_being_accepted(world: World) -> None:
    story = world.story
    ready(story, "adam", "a.txt", "adam\n")
    ready(story, "baker", "a.txt", "baker\n")
    said = story.llmc("accept", "baker", "adam", "baker", "--json", code=1)
    first, second = json.loads(said.out)
    assert first["commit"] == story.git("rev-parse", "main")
    assert "conflicts with main in a.txt" in second["refusal"]["what"]
    assert_straight(story, "Work of baker")
    assert "cannot be that of several" in story.llmc("accept", "adam", "baker", "-m", "x", code=2).err


def test_two_accepts_at_once_both_land(world: World) -> None:
    story = world.story
    world.config("repo.validate", '["sleep 0.5"]')
    ready(story, "adam", "a.txt")
    ready(story, "baker", "b.txt")
    begun = [story.spawn("accept", name) for name in ("adam", "baker")]
    assert [process.wait() for process in begun] == [0, 0], (story.place / "spawned.log").read_text()
    assert sorted(story.subjects()[-2:]) == ["Work of adam", "Work of baker"]
    assert_straight(story, *story.subjects()[-2:])
    assert {story.worker(name).work for name in ("adam", "baker")} == {Work.IDLE}


def test_the_same_work_is_accepted_once(world: World) -> None:
    story = world.story
    ready(story, "adam", "a.txt")
    begun = [story.spawn("accept", "adam") for _ in range(2)]
    assert sorted(process.wait() for process in begun) == [0, 1]
    assert "adam is idle" in (story.place / "spawned.log").read_text()
    assert_straight(story, "Some files", "Work of adam")


def test_ctrl_c_while_the_checks_run_takes_the_accept_back(world: World) -> None:
    running = world.story.place / "running"
    world.config("repo.validate", f'["touch left.txt {running}; sleep 100"]')
    world.work({"a.txt": "a\n"})
    world.to_review()
    world.upstream({"hand.txt": "h\n"})
    before = world.picture()
    process = world.story.spawn("accept", "adam")
    world.story.until(running.exists)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert world.picture() == before
    assert world.story.worker("adam").pending == ()


def test_a_daemon_finishes_an_accept_that_was_cut_short(tmp_path: Path) -> None:
    with told_in(tmp_path) as story:
        story.begin("adam")
        story.up()
        story.work("adam", "write a.txt x", "commit Add a")
        os.environ[VARIABLE] = Moment.ACCEPT_LANDED
        try:
            assert story.spawn("accept", "adam").wait() == -signal.SIGKILL
        finally:
            del os.environ[VARIABLE]
        story.wait("adam", Work.IDLE)
        assert story.subjects() == ["first", "Add a"]
        assert story.git("rev-parse", "HEAD", cwd=story.worker("adam").worktree_path) == story.git("rev-parse", "main")


@pytest.mark.timeout(300)
def test_twenty_finish_at_once_and_are_accepted_by_a_script(tmp_path: Path) -> None:
    log = tmp_path / "checked"
    with told_in(tmp_path) as story:
        story.begin(*TWENTY, policy__commit_grace_secs="0", repo__validate=f'["git log -1 --format=%s >> {log}"]')
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda name: story.commit_as(name, f"{name}.txt", "x\n", f"Work of {name}"), TWENTY))
        for name in TWENTY:
            story.llmc("explain", name)
        assert {story.worker(name).work for name in TWENTY} == {Work.NEEDS_REVIEW}
        said = story.json("accept", *TWENTY)
        wanted = [f"Work of {name}" for name in TWENTY]
        assert story.subjects() == ["first", *wanted]
        assert_straight(story, *wanted)
        assert sorted(log.read_text().splitlines()) == wanted  # each once, side by side
        assert {(story.worker(name).work, story.worker(name).pending) for name in TWENTY} == {(Work.IDLE, ())}
        assert [answer["commit"] for answer in said] == story.git("rev-list", "--reverse", "main").split()[1:]
