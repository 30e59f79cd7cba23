"""Budgets on the demo agent: told at 80 %, stopped at the limit with proof, gone on with when a person says so."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from llmc.care.budget import spent_day
from llmc.commands.shared.delegating import delegate
from llmc.core.usage.answer import ModelAnswer, Tokens
from llmc.model import Session, Turn, Work
from llmc.perform.metering import day_of
from llmc.store.usage import Counted
from testing.story import Story, end_abruptly, script
from testing.waiting import wait_until


def told(story: Story, words: str) -> list[str]:
    return [each["detail"] for each in story.json("events", "-n", "1000") if words in (each.get("detail") or "")]


@pytest.mark.lesson(58, "supervision costs no tokens, and budgets are kept by code")
def test_a_task_that_has_spent_its_tokens_is_stopped_within_its_turn_and_goes_on_when_released(story: Story) -> None:
    story.begin("adam", budget__task_tokens="1000", budget__task_usd="9").up()
    story.task("adam", "spend 700 150 gpt-5", "sleep 1", "spend 100 100 30 20 gpt-5", "sleep 600", "say never")
    worker = story.wait("adam", Work.NEEDS_INPUT)
    assert (worker.turn, worker.evidence.signal) == (Turn.OVER, "budget")
    assert worker.evidence.detail == "the budget of t1 is spent: 1,100 of 1,000 tokens"
    (near,) = told(story, "nearly spent")
    assert near.startswith("adam: the budget of t1 is nearly spent: 850 of 1,000 tokens; `llmc config set ")
    assert told(story, "interrupted (")
    (called,) = told(story, "`llmc task release t1`")
    assert called.startswith("adam waits for you: the budget of t1 is spent")
    assert "`llmc task release t1`" in story.llmc("explain", "adam").out
    card = story.json("status")["workers"][0]
    assert (card["status"], card["usage"]["task"]["input_tokens"]) == ("needs_input", 800)
    shown = story.json("task", "show", "t1")
    assert (shown["state"], shown["usage"]["output_tokens"], shown["usage"]["priced"]) == ("needs_you", 250, "api")
    assert "usage: 1.1k tokens, $0.00 at API prices" in story.llmc("task", "show", "t1").out

    receipt = story.json("task", "release", "t1")
    assert (receipt["outcome"], receipt["task"]) == ("delivered", "t1")
    worker = story.wait("adam", Work.NEEDS_REVIEW)  # the demo agent makes a note of what it is told
    assert "released" in [each["kind"] for each in story.json("task", "show", "t1")["history"]]
    assert len(told(story, "nearly spent")) == 1


def test_an_agent_that_spends_on_is_stopped_again_and_a_message_does_not_help(story: Story) -> None:
    story.begin("adam", budget__task_tokens="1000").up()
    story.task("adam", "spend 1000 0", "sleep 600")
    story.wait("adam", Work.NEEDS_INPUT)
    story.llmc("message", "adam", script("spend 10 0", "sleep 600"))
    story.until(lambda: len(told(story, "adam waits for you: the budget")) == 2)
    assert story.wait("adam", Work.NEEDS_INPUT).evidence.signal == "budget"
    story.llmc("config", "set", "budget.task_tokens", "5000")
    story.llmc("task", "release", "t1")
    story.wait("adam", Work.NEEDS_REVIEW)


def test_a_spent_day_stops_everybody_and_begins_nothing_new(story: Story) -> None:
    story.begin("adam", "baker", "clark", budget__day_usd="10", budget__task_usd="100").up()
    story.task("adam", "sleep 600")
    story.task("baker", "spend 7000000 0 gpt-5", "sleep 1", "spend 1000000 0 gpt-5", "sleep 600")
    for name in ("adam", "baker"):
        worker = story.wait(name, Work.NEEDS_INPUT)
        assert worker.evidence.detail == "the budget of the day is spent: $10.00 of $10.00"
    assert len(told(story, "today's budget is nearly spent: $8.75 of $10.00")) == 1
    story.llmc("task", "add", "Something else.")
    story.until(lambda: "the budget of the day is spent" in (story.json("status")["tasks"][0]["reason"] or ""))
    for words in (("start", "Another task."), ("task", "run-next"), ("task", "release", "t1")):
        refused = story.llmc(*words, code=1)
        assert refused.err.startswith("error: the budget of the day is spent: $10.00 of $10.00\nhint: `llmc config set")
    queued = story.json("start", "--queue", "Another task.")
    assert queued["id"] == "t4"

    story.llmc("message", "clark", script("sleep 600"))  # a person's own message begins a turn, which is stopped
    story.until(lambda: "clark was stopped: the budget of the day" in "".join(told(story, "clark was stopped")))
    assert story.worker("clark").turn is Turn.OVER
    story.llmc("config", "set", "budget.day_usd", "50")
    story.until(lambda: story.worker("clark").task == "t3")
    story.llmc("task", "release", "t1", "--json")
    story.wait("adam", Work.NEEDS_REVIEW)


def test_a_daemon_that_was_killed_at_the_limit_is_followed_by_one_that_stops(story: Story) -> None:
    """Before it has pressed the key, and after that, when nobody is left to tell why the turn has ended."""
    story.begin("adam", "baker", budget__task_tokens="1000").up()
    for name in ("adam", "baker"):
        story.task(name, "sleep 600")
    end_abruptly(story.daemon())
    for name in ("adam", "baker"):
        report(story, name, f"{name}-1", {"model": "gpt-5", "input_tokens": 1000})
    story.press("baker", "Escape")
    story.until(lambda: "Interrupted" in story.screen("baker"))
    story.up()
    for name, task in (("adam", "t1"), ("baker", "t2")):
        story.until(lambda name=name: story.worker(name).evidence.signal == "budget")
        worker = story.wait(name, Work.NEEDS_INPUT)
        assert worker.evidence.detail == f"the budget of {task} is spent: 1,000 of 1,000 tokens"
    assert "Interrupted" in story.screen("adam")


def test_what_ended_by_itself_is_not_told_to_go_on_when_nothing_is_left(story: Story) -> None:
    story.begin("adam", budget__task_tokens="1000", policy__autonomy="auto", tasks__retries="3").up()
    story.task("adam", "spend 1000 0", "nothing")
    worker = story.wait("adam", Work.NEEDS_INPUT)
    assert worker.evidence.signal in ("hook.turn_end", "budget")
    story.llmc("patrol")
    assert story.prompts("adam") == 1


STUBBORN = f"""
[agents.mule]
command = ["{sys.executable}", "-P", "-m", "llmc.demo", "--pace", "0.01"]
events = true
pack = "demo"
interrupt = ["F12"]
"""
"""The demo agent, whose turn ends with another key."""


def test_an_agent_that_does_not_end_its_turn_is_ended_and_keeps_nobody_else_from_being_stopped(story: Story) -> None:
    story.begin("mule", agent="mule", agents=STUBBORN, budget__task_tokens="1000").up()
    story.task("mule", "spend 1000 0", "sleep 600")
    story.llmc("add", "eve", "--agent", "demo")
    story.until(lambda: story.worker("eve").session is Session.UP)
    story.task("eve", "spend 1000 0", "sleep 600")
    story.wait("eve", Work.NEEDS_INPUT)
    wait_until(lambda: story.worker("mule").evidence.signal == "budget", 100.0)
    mule = story.worker("mule")
    assert mule.session is Session.DOWN
    assert mule.evidence.detail.startswith("the budget of t1 is spent: 1,000 of 1,000 tokens; its turn did not end")
    refused = story.llmc("task", "release", "t1", code=1)
    assert "`llmc restart mule`" in refused.err
    story.llmc("restart", "mule")
    assert story.worker("mule").turn is not Turn.OPEN
    assert "begins anew" in story.llmc("task", "release", "t1").out


def test_a_new_day_has_a_budget_of_its_own(story: Story) -> None:
    """What counts is the day on the calendar of this machine."""
    story.begin("adam", budget__day_usd="1")
    site = story.site
    tokens = Tokens(10_000_000)
    for days, spent in ((1, False), (0, True)):
        day = day_of(site.now() - days * 86_400)
        answer = ModelAnswer(f"answer-{day}", "gpt-5", 0.0, tokens)
        site.usage.count("adam", [Counted(answer, "", "adam", "demo", day)], {})
        assert (spent_day(site) is not None) == spent
    assert "budget of the day" in story.llmc("start", "More.", code=1).err


def test_two_workers_spend_one_budget_when_one_delegates_to_the_other(story: Story) -> None:
    """Both stop when it is gone; what was delegated and waits is given to nobody until the budget is more."""
    story.begin("adam", "baker", budget__task_tokens="1000").up()
    story.task("adam", "spend 400 0", "sleep 600")
    site = story.site
    child = delegate(site, "adam", script("spend 600 0", "sleep 600"), {"worker": "baker"})
    later = delegate(site, "adam", script("say late"), {"worker": "baker"})
    for name in ("adam", "baker"):
        worker = story.wait(name, Work.NEEDS_INPUT)
        assert worker.evidence.detail == "the budget of t1 is spent: 1,000 of 1,000 tokens"
    assert story.json("task", "show", "t1")["usage"]["input_tokens"] == 1000
    assert story.json("task", "show", child.id)["usage"]["input_tokens"] == 600
    by_task = {each["task"]: each["input_tokens"] for each in story.json("usage", "--by", "task")["rows"]}
    assert by_task == {"t1": 400, child.id: 600}
    assert "`llmc task release t1`" in story.llmc("task", "release", child.id, code=1).err

    story.llmc("reset", "baker", "--yes")
    story.until(lambda: "the budget of t1 is spent" in story.json("task", "show", later.id)["reason"])
    story.llmc("task", "release", "t1")
    story.until(lambda: story.worker("baker").task == later.id)


def test_a_task_that_has_spent_all_is_given_to_nobody_until_it_is_released(story: Story) -> None:
    story.begin("adam", "baker", budget__task_tokens="1000").up()
    story.task("adam", "spend 1000 0", "sleep 600")
    story.wait("adam", Work.NEEDS_INPUT)
    story.llmc("task", "add", "--hold", "Another one.")
    story.llmc("reset", "adam", "--yes")
    story.llmc("task", "retry", "t1")
    story.until(lambda: "the budget of t1 is spent" in (story.json("task", "show", "t1")["reason"] or ""))
    assert "the budget of t1 is spent" in story.llmc("task", "run-next", code=1).err
    refused = story.llmc("task", "release", "t1", "t99", code=1)
    assert "there is no task 't99'" in refused.err
    released = story.json("task", "release", "t1", "t2")["tasks"]
    assert {each["id"] for each in released} == {"t1", "t2"}
    story.until(lambda: {story.worker(name).task for name in ("adam", "baker")} == {"t1", "t2"})


def test_what_a_worker_has_spent_stays_when_it_goes_and_another_one_gets_its_name(story: Story) -> None:
    story.begin("adam").up()
    story.task("adam", "spend 100 0 gpt-5", "write a.txt 1", "commit A")
    story.wait("adam", Work.NEEDS_REVIEW)
    end_abruptly(story.daemon())
    report(story, "adam", "last", {"model": "gpt-5", "input_tokens": 11})  # which nobody takes before it goes
    story.llmc("nuke", "adam", "--yes")
    story.llmc("add", "adam", "--agent", "demo")
    story.up()
    story.task("adam", "spend 5 0 gpt-5", "write b.txt 1", "commit B")
    story.wait("adam", Work.NEEDS_REVIEW)
    rows = {each["task"]: each["input_tokens"] for each in story.json("usage", "--by", "task")["rows"]}
    assert rows == {"t1": 111, "t2": 5}


def test_what_was_spent_without_a_daemon_counts_as_well(story: Story) -> None:
    story.begin("adam", budget__day_usd="1").up()
    story.task("adam", "spend 100 0 gpt-5", "write a.txt 1", "commit A")
    story.wait("adam", Work.NEEDS_REVIEW)
    end_abruptly(story.daemon())
    report(story, "adam", "late", {"model": "gpt-5", "input_tokens": 2_000_000})
    story.llmc("task", "add", "Something else.")
    story.llmc("reset", "adam", "--yes")
    assert "budget of the day" in story.llmc("task", "run-next", code=1).err
    rows = {(each["task"], each["input_tokens"]) for each in story.json("usage")["rows"]}
    assert rows == {("t1", 2_000_100)}


def report(story: Story, worker: str, name: str, fields: dict[str, Any]) -> None:
    """As an agent of one's own drops it into the spool."""
    from pathlib import Path

    spool = Path(story.root.spool(worker))
    unfinished = spool / f".{name}"
    unfinished.write_text(json.dumps({"event": "usage", "id": name, **fields}))
    unfinished.rename(spool / f"{name}.json")
