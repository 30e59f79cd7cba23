"""An agent that is slow to take an Enter, or to report it: no receipt says what is not so, and no text runs twice."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from llmc.care.catch_up import work_news
from llmc.core.delivery import machine as delivery
from llmc.core.lifecycle import events as ev
from llmc.host.processes import descendants
from llmc.model import Outcome, Proof, Receipt, Session, Work
from llmc.perform.steps import decide_and_run
from testing.late_line import late_agent, taken
from testing.story import Story

TAKEN = (Outcome.DELIVERED, Outcome.QUEUED)
TEXT = "Look at the parser."


def online(story: Story, **manners: float) -> Path:
    """A worker whose agent is that slow. Where it keeps what it has taken."""
    kept = story.place / "kept"
    story.begin("adam", agent="late", agents=late_agent(kept, **manners))
    decide_and_run(story.site, "adam", ev.StartAsked(story.site.now()))
    assert story.worker("adam").session is Session.UP
    return kept


def message(story: Story, text: str = TEXT) -> Receipt:
    work_news(story.site, story.site.worker("adam"))
    (receipt,) = decide_and_run(story.site, "adam", ev.MessageGiven(story.site.now(), text)).receipts
    return receipt


def task(story: Story) -> Receipt:
    settled = decide_and_run(story.site, "adam", ev.TaskGiven(story.site.now(), TEXT, TEXT))
    return settled.receipts[-1]


def feedback(story: Story) -> Receipt:
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha="a" * 40)
    settled = decide_and_run(story.site, "adam", ev.WorkRejected(story.site.now(), TEXT, TEXT))
    return settled.receipts[-1]


# --- the Enter is taken late ------------------------------------------------------------------------


@pytest.mark.lesson(44, "after an Enter nobody promises that nothing was taken")
@pytest.mark.parametrize("send", [message, task, feedback])
@pytest.mark.parametrize("late", [1.0, 5.0])
def test_an_enter_that_is_taken_late(story: Story, send: Callable[[Story], Receipt], late: float) -> None:
    kept = online(story, late=late)
    receipt = send(story)
    story.until(lambda: taken(kept) == [TEXT])
    assert (receipt.outcome, receipt.proof) == (Outcome.DELIVERED, Proof.HOOK)


@pytest.mark.lesson(44, "after an Enter nobody promises that nothing was taken")
def test_an_enter_that_is_taken_when_nobody_waits_for_it_any_more(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty seconds in the life of a patient sender, three in that of this one."""
    monkeypatch.setattr(delivery, "READ_WITHIN", 2.0)
    monkeypatch.setattr(delivery, "MAX_SUBMITS", 2)
    monkeypatch.setattr(delivery, "PROVEN_WITHIN", 2.0)
    kept = online(story, late=8.0)
    receipt = message(story)
    assert (receipt.outcome, receipt.proof) == (Outcome.UNKNOWN, Proof.NONE)
    story.until(lambda: taken(kept) == [TEXT])
    story.look_until("adam", lambda: story.worker("adam").sent == ())
    assert story.worker("adam").leftover == ""


@pytest.mark.lesson(44, "after an Enter nobody promises that nothing was taken")
@pytest.mark.parametrize("continued", [True, False])
def test_an_agent_that_was_stopped_by_a_signal(story: Story, monkeypatch: pytest.MonkeyPatch, continued: bool) -> None:
    kept = online(story)
    monkeypatch.setattr(delivery, "READ_WITHIN", 2.0)
    (pid,) = descendants(story.pane("adam").pid)
    os.kill(pid, signal.SIGSTOP)
    try:
        receipt = message(story)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (receipt.outcome, taken(kept)) == (Outcome.UNKNOWN, [])
    assert "look before you resend" in receipt.reason
    if continued:
        story.press("adam", "Enter")  # somebody looked, and found it in the input line
        story.until(lambda: taken(kept) == [TEXT])
        story.look_until("adam", lambda: story.worker("adam").sent == ())
    else:
        story.until(lambda: TEXT in story.screen("adam"))
        assert message(story, "Something else.").outcome in (Outcome.DELIVERED, Outcome.UNKNOWN)
        story.until(lambda: "Something else." in taken(kept))
        assert TEXT not in taken(kept), "what it was left with was cleared first"


# --- two texts of the same words --------------------------------------------------------------------


@pytest.mark.lesson(45, "two identical texts need two proofs")
def test_the_late_report_of_the_first_does_not_prove_the_second(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "REPORTED_WITHIN", 1.0)
    monkeypatch.setattr(delivery, "PROVEN_WITHIN", 1.0)
    kept = online(story, report_after=3.0)
    first = message(story)
    assert first.proof is not Proof.HOOK
    monkeypatch.setattr(delivery, "REPORTED_WITHIN", 30.0)
    monkeypatch.setattr(delivery, "PROVEN_WITHIN", 30.0)
    second = message(story)
    assert (second.outcome, second.proof) == (Outcome.DELIVERED, Proof.HOOK)
    assert taken(kept) == [TEXT, TEXT]
    prompts = [file for file in Path(story.root.spool("adam")).glob("*.json") if "prompt" in file.read_text()]
    assert len(prompts) + story.prompts("adam") >= 2, "both had been reported by then"


@pytest.mark.lesson(45, "two identical texts need two proofs")
def test_a_report_that_comes_twice_does_not_prove_what_still_stands_in_the_input_line(story: Story) -> None:
    """The second report of the first text comes while the second text waits for its Enter to be taken."""
    kept = online(story, late=4.0, report_after=3.0, copies=2)
    assert message(story).proof is Proof.HOOK
    second = message(story)
    assert taken(kept) == [TEXT, TEXT], "it has it when the receipt says so"
    assert second.outcome in TAKEN


@pytest.mark.lesson(45, "two identical texts need two proofs")
def test_a_report_with_a_time_to_come_proves_nothing_that_is_sent_later(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits in the spool when the text is sent: its time, two days ahead, is after the sending."""
    monkeypatch.setattr(delivery, "REPORTED_WITHIN", 1.0)
    monkeypatch.setattr(delivery, "PROVEN_WITHIN", 1.0)
    online(story, report_after=60.0)
    report = Path(story.root.spool("adam"), "1.json")
    report.write_text(json.dumps({"event": "prompt", "sha256": hashlib.sha256(TEXT.encode()).hexdigest()}))
    ahead = time.time() + 2 * 86_400
    os.utime(report, (ahead, ahead))
    (receipt,) = decide_and_run(story.site, "adam", ev.MessageGiven(story.site.now(), TEXT)).receipts
    assert receipt.proof is not Proof.HOOK


def test_texts_of_other_words_may_be_reported_in_any_order(story: Story) -> None:
    kept = online(story, report_after=1.0)
    receipts = [message(story, text) for text in ("one two", "three four", "one two")]
    assert [(receipt.outcome in TAKEN, receipt.proof) for receipt in receipts] == [(True, Proof.HOOK)] * 3
    assert taken(kept) == ["one two", "three four", "one two"]
