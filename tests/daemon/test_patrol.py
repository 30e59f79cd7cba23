"""The patrol: repairs what no signal told of, counts it, and says so; one at a time, when it is due or asked for."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from llmc.core.lifecycle.patrol import Miss
from llmc.daemon.journal import Journal
from llmc.daemon.patrol import Patrols
from llmc.model import Session, Turn, Work
from llmc.store.worker_log import WorkerLog
from testing.story import Story, end_abruptly

QUESTION = '{"event": "question", "text": "which one?"}'


def at_work(story: Story, *names: str) -> None:
    for name in names:
        story.task(name, "hang")
        story.until(lambda name=name: story.worker(name).turn is Turn.OPEN)


def ask_unseen(story: Story, name: str) -> None:
    """The agent asks something, in a directory that has taken the place of the one that is watched."""
    spool = Path(story.root.spool(name))
    story.until(lambda: not list(spool.glob("*.json")))
    spool.rename(spool.with_name(f"{name}-watched"))
    spool.mkdir()
    (spool / ".1").write_text(QUESTION)
    (spool / ".1").rename(spool / "1.json")


def counts(story: Story) -> dict[str, int]:
    return {kind: count for kind, count in story.json("status")["patrol"]["counts"].items() if count}


def test_nothing_missed_is_nothing_counted(story: Story) -> None:
    story.begin("adam", "baker", defaults__patrol_interval_secs="0.3").up()
    story.work("adam", "write a.txt x", "commit Add a")
    story.work("baker", "write b.txt x", "commit Add b")
    runs = story.json("status")["patrol"]["runs"]
    story.until(lambda: story.json("status")["patrol"]["runs"] >= runs + 3)
    assert counts(story) == {}
    assert "missed so far" not in story.llmc("status").out


def test_what_was_missed_is_repaired_and_counted(story: Story) -> None:
    story.begin("adam", "baker").up()
    at_work(story, "adam", "baker")
    assert story.llmc("patrol").out == "everything is as it should be\n"
    ask_unseen(story, "adam")
    said = story.json("patrol")
    assert said["repaired"] == {"adam": [Miss.REPORT.value]}
    assert story.wait("adam", Work.NEEDS_INPUT).evidence.detail == "it asks: which one?"
    assert counts(story) == {"report": 1}
    ask_unseen(story, "baker")
    assert story.json("patrol")["counts"]["report"] == 2
    assert "missed so far: report 2" in story.llmc("status").out
    assert "report 2" in story.llmc("explain", "baker").out
    log = Path(story.root.daemon_log).read_text()
    assert "patrol: baker: repaired what was missed: report" in log
    assert [event.detail for event in story.events("adam", "patrol")] == ["repaired what was missed: report"]


def test_a_branch_that_moves_while_somebody_is_there_is_looked_at_once_more(story: Story) -> None:
    """Who is there may have looked at it before."""
    story.begin("adam")
    story.commit_as("adam", "a.txt", "x\n", "By hand")
    sent: list[str] = []
    patrols = Patrols(lambda _: True, sent.append, lambda: None, Journal(WorkerLog(story.root.logs)))
    patrols.look_at_all(story.site)
    patrols.looked_upstream(story.site)
    assert sent == ["adam", "adam"]


def test_what_has_to_be_as_it_is_counts_for_nothing(story: Story) -> None:
    """Work that cannot be brought up to date is looked at by each patrol, and no signal was missed."""
    story.begin("adam").up()
    done = story.work("adam", "write a.txt x", "commit Add a")
    Path(done.worktree_path, "left.txt").write_text("not committed\n")
    story.commit_upstream("b.txt", "b\n", "By hand")
    for _ in range(2):
        assert story.json("patrol")["repaired"] == {}
    assert story.worker("adam").commit_sha == done.commit_sha
    assert counts(story) == {}


def test_without_a_daemon_the_command_does_it_itself(story: Story) -> None:
    story.begin("adam", "baker").up()
    at_work(story, "adam")
    end_abruptly(story.daemon())
    Path(story.root.spool("adam"), "1.json").write_text(QUESTION)
    end_abruptly(story.pane("baker").pid)
    said = story.json("patrol")
    assert "report" in said["repaired"]["adam"]
    assert "session" in said["repaired"]["baker"]
    assert story.worker("adam").work is Work.NEEDS_INPUT
    assert story.worker("baker").session is Session.CRASHED
    assert [each["kind"] for each in said["troubles"]["baker"]] == ["crashed"]


def test_a_daemon_that_ends_before_it_answers_is_not_waited_for(story: Story) -> None:
    daemon = story.begin("adam").up()
    os.kill(daemon, signal.SIGSTOP)
    asking = story.spawn("patrol", "--json")
    story.until(Path(story.root.patrol_request).exists)
    runs = story.json("status")["patrol"]["runs"] or 0
    end_abruptly(daemon)
    assert asking.wait(120) == 0
    assert story.json("status")["patrol"]["runs"] == runs + 1
    assert not Path(story.root.patrol_request).exists()


def test_many_may_ask_at_once(story: Story) -> None:
    story.begin("adam", "baker").up()
    runs = story.json("status")["patrol"]["runs"] or 0
    asking = [story.spawn("patrol") for _ in range(3)]
    assert [each.wait(120) for each in asking] == [0, 0, 0]
    assert story.json("status")["patrol"]["runs"] > runs


def test_no_patrol_means_none_but_the_one_that_is_asked_for(story: Story) -> None:
    story.begin("adam", defaults__patrol_interval_secs="0.1")
    story.llmc("up", "--detach", "--no-patrol")
    assert story.json("status")["patrol"]["runs"] is None
    assert story.json("patrol")["runs"] == 1
