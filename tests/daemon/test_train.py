"""The merge train run by the daemon, with agents that are there to be asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.model import Work
from llmc.store.tasks import TaskEvent
from testing.story import Story, end_abruptly, told_in

GOOD = "! grep -qs bad *.txt"


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    with told_in(tmp_path) as told:
        yield told


def works(story: Story, **contents: str) -> None:
    for name, content in contents.items():
        story.task(name, f"write {name}.txt {content}", f"commit Work of {name}")
    for name in contents:
        story.wait(name, Work.NEEDS_REVIEW)


def ended(story: Story) -> dict[str, str]:
    return {each["worker"]: each["state"] for each in story.json("train")["ended"]}


def test_the_daemon_lands_what_is_queued_and_sends_back_what_fails(story: Story) -> None:
    story.begin("adam", "baker", "carol", repo__validate=json.dumps([f"echo looked; {GOOD}"]))
    story.up()
    works(story, adam="good", baker="bad", carol="good")
    said = story.llmc("accept", "adam", "baker", "carol", "--queue")
    assert "baker: in the merge train, at place 2" in said.out
    story.until(lambda: len(ended(story)) == 3)
    assert ended(story) == {"adam": "landed", "baker": "sent back", "carol": "landed"}
    assert story.subjects() == ["first", "Work of adam", "Work of carol"]
    (rejected,) = story.events("baker", "command.reject")
    assert rejected.work_after == "rejected"
    assert "does not pass on your work as it would land" in story.worker("baker").feedback
    assert "looked" in story.worker("baker").feedback
    history = story.site.ledger.tasks.history(story.worker("baker").task)
    assert any(each.kind == "train" and "on this work by itself" in each.detail for each in history)
    shown = story.json("task", "show", "t3")
    (checked,), landed = shown["checks"], story.git("rev-parse", "main^{tree}")
    assert (checked["detail"], checked["data"]["tree"]) == (f"passed: `echo looked; {GOOD}`", landed)
    assert [each["command"] for each in checked["data"]["results"]] == [f"echo looked; {GOOD}"]


def test_a_new_daemon_goes_on_with_the_train_of_one_that_was_killed(story: Story, tmp_path: Path) -> None:
    go, begun = tmp_path / "go", tmp_path / "begun"
    story.begin(
        "adam", "baker", repo__validate=json.dumps([f"touch {begun}; while ! test -e {go}; do sleep 0.05; done"])
    )
    story.up()
    works(story, adam="good", baker="good")
    story.llmc("accept", "adam", "baker", "--queue")
    story.until(begun.exists)
    assert [each["state"] for each in story.json("task", "list")["tasks"]] == ["landing", "landing"]
    assert [each["worker"] for each in story.json("status")["train"]["entries"]] == ["adam", "baker"]
    end_abruptly(story.daemon())
    go.touch()
    story.up()
    story.until(lambda: len(ended(story)) == 2)
    assert story.subjects() == ["first", "Work of adam", "Work of baker"]
    assert story.json("status")["train"] == {"paused": False, "entries": []}


def test_work_lands_unattended_where_that_is_wanted_and_says_so(story: Story) -> None:
    story.begin("adam", repo__validate=json.dumps([GOOD]), policy__auto_accept="true")
    story.up()
    story.task("adam", "write adam.txt good", "commit Work of adam")
    story.until(lambda: story.subjects() == ["first", "Work of adam"])
    story.wait("adam", Work.IDLE)
    (merged,) = story.events("adam", "git.merged")
    assert merged.detail.startswith("landed unattended, checks passed: merged as ")
    assert any("landed unattended, checks passed" in each.detail for each in story.events("adam", "notice"))
    end = next(each for each in story.site.ledger.tasks.history("t1") if each.kind == "landed")
    assert (end.detail, end.data["unattended"]) == ("landed unattended, checks passed", True)
    assert story.json("undo", "--landing", "t1")["task"] == "t1"
    assert story.subjects() == ["first", "Work of adam", 'Revert "Work of adam"']


def test_nothing_lands_unattended_without_checks_or_while_something_is_uncommitted(story: Story) -> None:
    story.begin("adam", "baker", policy__auto_accept="true")
    story.up()
    works(story, adam="good")
    why = "nothing lands unattended without checks, and none are set"
    story.until(lambda: any(why in each.detail for each in story.events("adam", "train")))
    story.until(lambda: story.json("train")["not_unattended"] == [{"worker": "adam", "why": why}])
    Path(story.worker("adam").worktree_path, "half.txt").write_text("half\n")
    story.llmc("config", "set", "repo.validate", json.dumps([GOOD]))
    story.until(lambda: any("uncommitted changes in half.txt" in each.detail for each in story.events("adam", "train")))
    assert story.subjects() == ["first"]


def test_a_single_task_may_land_unattended(story: Story) -> None:
    story.begin("adam", "baker", repo__validate=json.dumps([GOOD]))
    story.up()
    works(story, baker="good")
    story.task("adam", "write adam.txt good", "ask Shall I go on?", "commit Of adam")
    story.wait("adam", Work.NEEDS_INPUT)
    story.site.ledger.tasks.change(story.worker("adam").task, TaskEvent(1.0, "edited"), auto_accept=True)
    story.llmc("answer", "adam", "yes")
    story.until(lambda: story.subjects() == ["first", "Of adam"])
    assert story.worker("baker").work is Work.NEEDS_REVIEW


def test_unattended_work_that_fails_goes_back_and_lands_when_it_is_mended(story: Story) -> None:
    story.begin("adam", repo__validate=json.dumps([GOOD]), policy__auto_accept="true")
    story.up()
    story.task("adam", "write adam.txt bad", "commit Work of adam")
    story.until(lambda: story.events("adam", "command.reject"))
    story.wait("adam")
    story.llmc("message", "adam", "demo:write adam.txt good\ndemo:commit Mend it")
    story.until(lambda: [each["state"] for each in story.json("train")["ended"]][-1] == "landed")
    assert len(story.subjects()) == 2
