"""Thousands of reports at once: none is lost, none counts twice, their order holds, and nobody else waits for them."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from llmc.care.reports import BATCH
from llmc.care.worker import REPORTS_AT_ONCE
from llmc.daemon.daemon import AT_ONCE
from llmc.model import Turn, Work
from llmc.observe.reports import has_reports
from testing.story import Story, end_abruptly

FLOOD = 10_000


def at_work(story: Story, *names: str) -> None:
    """A daemon that looks after these, each in the middle of a task."""
    story.begin(*names, agent="shell").up()
    for name in names:
        story.rewrite(name, work=Work.WORKING, turn=Turn.OPEN, current_prompt="do it")


SESSIONS: dict[str, str] = {}
"""Which session each worker is in, by its spool: asked for once in a flood."""


def session_of(story: Story, name: str) -> str:
    spool = story.root.spool(name)
    return SESSIONS.get(spool) or SESSIONS.setdefault(spool, story.worker(name).launch)


def report(story: Story, name: str, number: int) -> None:
    """Asks and goes on in turns, so that each report moves the worker and is seen in the log."""
    event = "activity" if number % 2 else "question"
    unfinished = Path(story.root.spool(name), f".{number}")
    unfinished.write_text(json.dumps({"event": event, "text": str(number), "session": session_of(story, name)}))
    # Times of files are only as fine as the kernel's clock.
    os.utime(unfinished, ns=(number, 1_000_000_000_000 + number))
    unfinished.rename(unfinished.with_name(f"{number:06d}.json"))


def rows(story: Story, name: str) -> dict[int, int]:
    """Which report of this worker stands in which row of the log, in the order of the rows."""
    logged = [event for event in story.site.ledger.events.recent(name, limit=50_000) if event.signal.startswith("hook")]
    return {event.id: int(event.detail.removeprefix("it asks: ")) for event in logged}


def is_read(story: Story, *names: str) -> bool:
    return not any(has_reports(story.site, name) for name in names)


def test_a_flood_from_one_worker_keeps_nobody_waiting(story: Story) -> None:
    at_work(story, "adam", "baker")
    for number in range(FLOOD // 2):
        report(story, "adam", number)
    report(story, "baker", 0)
    for number in range(FLOOD // 2, FLOOD):
        report(story, "adam", number)
    assert [worker["name"] for worker in story.json("status")["workers"]] == ["adam", "baker"]
    story.until(lambda: is_read(story, "adam", "baker"))
    assert list(rows(story, "adam").values()) == list(range(FLOOD))
    assert list(rows(story, "baker").values()) == [0]
    assert min(rows(story, "baker")) < max(rows(story, "adam")), "before the flood was over"


def test_a_flood_from_many_workers_keeps_nobody_waiting(story: Story) -> None:
    flooding, each = [f"worker{number}" for number in range(AT_ONCE)], REPORTS_AT_ONCE * 5 // 2
    at_work(story, *flooding, "adam")
    for number in range(each):
        for name in flooding:
            report(story, name, number)
        if number == each // 2:
            report(story, "adam", 0)
    story.until(lambda: is_read(story, *flooding, "adam"))
    for name in flooding:
        assert list(rows(story, name).values()) == list(range(each))
    assert min(rows(story, "adam")) < max(max(rows(story, name)) for name in flooding)


def test_a_daemon_that_is_killed_in_the_middle_of_a_flood_loses_and_doubles_nothing(story: Story) -> None:
    at_work(story, "adam")
    daemon, flood = story.daemon(), range(FLOOD // 4)
    os.kill(daemon, signal.SIGSTOP)
    for number in flood:
        report(story, "adam", number)
    os.kill(daemon, signal.SIGCONT)
    story.until(lambda: rows(story, "adam"))
    end_abruptly(daemon)
    assert not is_read(story, "adam")
    story.up()
    story.until(lambda: is_read(story, "adam"))
    numbers = list(rows(story, "adam").values())
    assert numbers == sorted(set(numbers)), "in order, and none twice"
    # The log is written after the state: what is missing there is at most what was being kept in that moment.
    assert len(flood) - len(numbers) <= BATCH
    assert story.worker("adam").work is Work.WORKING
