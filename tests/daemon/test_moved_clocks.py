"""The clock is set back, put forward, put right: nothing waits for days, and nothing happens days too early."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from llmc.daemon.upkeep import Upkeep
from llmc.git.backup import list_backups
from llmc.model import Session, Turn, Work
from testing.moved_clock import MovedClock
from testing.story import Story, end_abruptly, script

DAY = 86_400.0
MOVES = [-900 * DAY, -2 * DAY, 2 * DAY, 900 * DAY]
AUTO = {"policy__autonomy": "auto"}


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MovedClock:
    return MovedClock(tmp_path, monkeypatch)


def at_work(story: Story, name: str) -> None:
    story.task(name, "hang")
    story.until(lambda: story.worker(name).turn is Turn.OPEN)


def told_of(story: Story, name: str) -> list[str]:
    return [event.detail for kind in ("SilenceLasted", "notice") for event in story.events(name, kind)]


@pytest.mark.lesson(46, "every threshold counts from what was done last, also after a gap")
@pytest.mark.parametrize("moved", MOVES)
def test_everything_goes_on_and_nobody_is_nudged(story: Story, clock: MovedClock, moved: float) -> None:
    story.begin("adam", "baker", **AUTO).up()
    at_work(story, "adam")
    before = told_of(story, "adam")
    for ahead in (moved, 0.0):
        clock.put(ahead)
        story.llmc("patrol")
        worker = story.worker("adam")
        assert (worker.work, worker.session, worker.nudges) == (Work.WORKING, Session.UP, 0)
        assert told_of(story, "adam") == before
        assert abs(time.time() - worker.last_activity_unix) < DAY / 2
        shown = {each["name"]: each for each in story.json("status")["workers"]}
        assert (shown["adam"]["status"], shown["adam"]["troubles"]) == ("working", [])
        story.work("baker", "write a.txt x", "commit Add a")
        story.llmc("reset", "baker", "--yes")
        story.llmc("restart", "baker")
        assert [each for each in story.json("doctor")["findings"] if each["severity"] == "error"] == []


@pytest.mark.parametrize("moved", [-2 * DAY, 2 * DAY])
def test_an_agent_that_is_silent_is_asked_in_time(story: Story, clock: MovedClock, moved: float) -> None:
    story.begin("adam", **AUTO, policy__nudge_after_secs="6").up()
    at_work(story, "adam")
    clock.put(moved)

    def asked() -> bool:
        story.llmc("patrol")
        return story.worker("adam").nudges == 1

    story.until(asked)


def test_a_restart_that_is_due_is_not_put_off_by_days(story: Story, clock: MovedClock) -> None:
    story.begin("adam", **AUTO, policy__restart_backoff_secs="4").up()
    at_work(story, "adam")
    end_abruptly(story.pane("adam").pid)
    story.until(lambda: "restart" in story.worker("adam").timers)
    clock.put(-2 * DAY)
    story.until(lambda: story.prompts("adam") == 2)


@pytest.mark.parametrize("event", ["turn_end", "activity", "prompt"])
def test_a_report_from_the_day_after_tomorrow_breaks_nothing(story: Story, event: str) -> None:
    story.begin("adam")
    story.llmc("restart", "adam")
    report = Path(story.root.spool("adam"), "1.json")
    report.write_text(json.dumps({"event": event, "text": "x"}))
    os.utime(report, (time.time() + 2 * DAY,) * 2)
    story.llmc("reset", "adam", "--yes")
    assert not report.exists()
    assert story.worker("adam").last_activity_unix <= time.time()
    story.llmc("restart", "adam", "--yes")
    story.llmc("start", "--worker", "adam", "--prompt", script("nothing"))
    assert story.json("message", "adam", "hello")["outcome"] in ("delivered", "queued")
    assert [each for each in story.json("doctor")["findings"] if each["code"] == "clock-jumped"] == []


@pytest.mark.parametrize("moved", MOVES)
def test_no_fresh_backup_expires_and_the_newest_is_restored(story: Story, clock: MovedClock, moved: float) -> None:
    story.begin("adam", backup__keep_count="1", backup__keep_days="7")
    worktree = Path(story.worker("adam").worktree_path)
    for number, ahead in enumerate((0.0, 0.0, moved)):
        clock.put(ahead)
        (worktree / "draft.txt").write_text(str(number))
        story.llmc("reset", "adam", "--yes")
    Upkeep().when_due(story.site)
    clock.put(0.0)
    Upkeep().when_due(story.site)
    assert len(list_backups(story.site.git, story.root.path, "adam")) == 3
    clock.put(moved)
    story.llmc("undo", "adam", "--yes")
    assert (worktree / "draft.txt").read_text() == "2"


def test_backups_still_expire_when_their_time_has_come(story: Story, clock: MovedClock) -> None:
    """Seen day by day, as on a machine that runs: the time has gone by for sure."""
    story.begin("adam", backup__keep_count="1", backup__keep_days="2")
    worktree = Path(story.worker("adam").worktree_path)
    clock.put(-30 * DAY)
    for number in range(2):
        (worktree / "draft.txt").write_text(str(number))
        story.llmc("reset", "adam", "--yes")
    Path(story.root.path, "state.json").write_text(
        Path(story.root.path, "state.json").read_text().replace('"boot": "', '"boot": "an earlier one than ')
    )
    clock.put(-25 * DAY)
    Upkeep().when_due(story.site)
    assert len(list_backups(story.site.git, story.root.path, "adam")) == 1
