"""A text gets to the agent once, byte for byte, with a proof; or the receipt says that it did not."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from llmc.agents import claude, demo_agent, registry
from llmc.care.catch_up import work_news
from llmc.core.delivery.texts import prompt_digests
from llmc.core.lifecycle import events as ev
from llmc.host.processes import is_running
from llmc.model import Outcome, Proof, Receipt, Session, Turn, Work
from llmc.perform.delivery import TypedTerminal
from llmc.perform.steps import Settled, decide_and_run, settle
from testing.prompt_line import agent_table, commands_typed
from testing.story import LLMC, SILENT, Story, end_abruptly, script

AWKWARD = [
    "-rf /",
    "/clear",
    "ends with a semicolon;",
    "tabs\tand\nnewlines\n\n  and indents",
    "emoji 🙂🏽, CJK 漢字, combining e\u0301, right to left שלום, quotes '\"`$(x) #{pane_id} \\;",
    "1. Do this\n2. Do that\n3. And that",
    "❯ 1. Yes\n  2. No\n\n Enter to confirm · Esc to cancel",
    "long " + "word " * 4000 + "end",
]


def online(story: Story, agent: str = "demo") -> Story:
    """A worker whose agent is up, and no daemon that would read its reports."""
    story.begin("adam", agent=agent, agents=SILENT)
    decide_and_run(story.site, "adam", ev.StartAsked(story.site.now()))
    assert story.worker("adam").session is Session.UP
    return story


def send(story: Story, text: str) -> Settled:
    return decide_and_run(story.site, "adam", ev.MessageGiven(story.site.now(), text))


def receipt_of(settled: Settled) -> Receipt:
    (receipt,) = settled.receipts
    return receipt


def reported(story: Story) -> list[str]:
    """The prompts that the agent has accepted and nobody has read yet."""
    files = sorted(Path(story.root.spool("adam")).glob("*.json"))
    events = [json.loads(file.read_text()) for file in files]
    return [event["text"] for event in events if event["event"] == "prompt"]


def begun(story: Story, text: str) -> str:
    """What a sender leaves that died in the middle of a delivery. The text's step."""
    site = story.site
    site.ledger.apply("adam", ev.MessageGiven(site.now(), text))
    step = site.worker("adam").pending[0]
    site.ledger.apply("adam", ev.StepBegun(site.now(), step.id))
    return step.id


# --- delivered --------------------------------------------------------------------------------------


@pytest.mark.lesson(2, "proof is the agent's own report, or an input line seen full and then empty")
def test_every_text_arrives_byte_for_byte(story: Story) -> None:
    online(story)
    for text in AWKWARD:
        receipt = receipt_of(send(story, f"{text}\ndemo:nothing"))
        assert (receipt.outcome, receipt.proof) == (Outcome.DELIVERED, Proof.HOOK)
        assert receipt.bytes == len(f"{text}\ndemo:nothing".encode())
        assert receipt.sha256 == hashlib.sha256(f"{text}\ndemo:nothing".encode()).hexdigest()
    assert reported(story) == [f"{text}\ndemo:nothing" for text in AWKWARD]


@pytest.mark.parametrize("with_daemon", [False, True], ids=["no daemon", "daemon"])
def test_a_mebibyte_arrives_byte_for_byte(story: Story, with_daemon: bool) -> None:
    kept = story.place / "kept"
    story.begin("adam", agent="line", agents=agent_table("line", kept))
    if with_daemon:
        story.up()
    else:
        decide_and_run(story.site, "adam", ev.StartAsked(story.site.now()))
    text = ("".join(AWKWARD) * 100).encode()[: 1 << 20].decode(errors="ignore")
    (story.place / "text").write_text(text)
    receipt = story.json("message", "adam", "--file", str(story.place / "text"))
    assert (receipt["outcome"], receipt["proof"]) == ("delivered", "hook")
    assert receipt["bytes"] == len(text.encode()) > 1_000_000
    assert kept.read_bytes() == text.encode()


@pytest.mark.lesson(5, "each paste has a buffer of its own, and tmux makes the brackets")
def test_texts_for_two_agents_at_once_do_not_cross(story: Story) -> None:
    kept = {name: story.place / f"kept-by-{name}" for name in ("adam", "baker")}
    story.begin(agents="".join(agent_table(f"line-{name}", file) for name, file in kept.items()))
    for name in kept:
        story.llmc("add", name, "--agent", f"line-{name}")
        decide_and_run(story.site, name, ev.StartAsked(story.site.now()))
    for number in range(3):
        sent = [story.spawn("message", name, f"{number} for {name}. ") for name in kept]
        assert [process.wait(120) for process in sent] == [0, 0]
    assert {name: file.read_text() for name, file in kept.items()} == {
        name: f"0 for {name}. 1 for {name}. 2 for {name}. " for name in kept
    }


@pytest.mark.lesson(1, "a receipt says delivered, queued, undelivered or unknown, and never guesses success")
@pytest.mark.lesson(8, "Escape only to refuse what a dialog asks")
def test_a_busy_agent_takes_it_into_its_queue(story: Story) -> None:
    online(story)
    send(story, script("hang"))
    story.until(lambda: "Working" in story.screen("adam"))
    receipt = receipt_of(send(story, script("nothing")))
    assert (receipt.outcome, receipt.proof) == (Outcome.QUEUED, Proof.COMPOSER)
    assert "Working" in story.screen("adam"), "nothing has interrupted it"


@pytest.mark.lesson(2, "proof is the agent's own report, or an input line seen full and then empty")
def test_a_silent_agent_proves_it_by_its_input_line(story: Story) -> None:
    online(story, "silent")
    receipt = receipt_of(send(story, script("say hello")))
    assert (receipt.outcome, receipt.proof) == (Outcome.DELIVERED, Proof.COMPOSER)


@pytest.mark.lesson(6, "slash commands are typed, and a menu may take their first Enter")
def test_a_command_is_typed_and_its_menu_may_take_the_first_enter(story: Story) -> None:
    kept = story.place / "kept"
    story.begin("adam", agent="line", agents=agent_table("line", kept, clear="/clear"))
    decide_and_run(story.site, "adam", ev.StartAsked(story.site.now()))
    story.llmc("start", "--worker", "adam", "--prompt", "Look at the parser.")
    assert commands_typed(kept) == ["/clear"]
    assert "Look at the parser." in kept.read_text()
    assert "/clear" not in kept.read_text()


@pytest.mark.lesson(11, "copy mode is left first, and a dialog gets neither text nor Enter")
def test_copy_mode_of_somebody_who_looks_back_is_left(story: Story) -> None:
    online(story)
    story.site.tmux.run("copy-mode", "-t", story.pane("adam").id)
    assert story.pane("adam").in_mode
    assert receipt_of(send(story, script("nothing"))).outcome is Outcome.DELIVERED


# --- refused ----------------------------------------------------------------------------------------


@pytest.mark.lesson(11, "copy mode is left first, and a dialog gets neither text nor Enter")
def test_an_open_dialog_takes_no_text(story: Story) -> None:
    online(story)
    send(story, script("permit make"))
    story.until(lambda: "Do you want" in story.screen("adam"))
    story.rewrite("adam", work=Work.NEEDS_INPUT, turn=Turn.OPEN)
    before = story.worker("adam")
    settled = send(story, "and also this")
    receipt = receipt_of(settled)
    assert receipt.outcome is Outcome.UNDELIVERED
    assert "a dialog is open (permission)" in receipt.reason
    after = story.worker("adam")
    assert (after.work, after.turn, after.pending) == (before.work, before.turn, ())
    assert "Do you want" in story.screen("adam"), "nothing was typed"


def test_an_agent_that_is_gone_gets_nothing(story: Story) -> None:
    online(story)
    end_abruptly(story.pane("adam").pid)
    receipt = receipt_of(send(story, "hello"))
    assert receipt.outcome is Outcome.UNDELIVERED
    assert "ended" in receipt.reason


def test_without_tmux_there_is_nobody_to_send_to(story: Story) -> None:
    online(story)
    server = story.pane("adam").server_pid
    end_abruptly(server)
    assert not is_running(server)
    assert receipt_of(send(story, "hello")).reason == "its session is not running"


# --- cut short --------------------------------------------------------------------------------------


@pytest.mark.lesson(4, "what may have arrived is looked for and not sent again")
def test_what_the_agent_has_reported_is_not_sent_again(story: Story) -> None:
    online(story)
    send(story, script("nothing"))
    work_news(story.site, story.site.worker("adam"))
    text = script("say only once", "nothing")
    begun(story, text)
    story.site.tmux.paste(story.pane("adam").id, text.encode(), "by-the-dead-sender")
    story.press("adam", "Enter")
    story.until(lambda: reported(story) == [text])
    receipt = receipt_of(settle(story.site, "adam"))
    assert (receipt.outcome, receipt.proof) == (Outcome.DELIVERED, Proof.HOOK)
    assert reported(story) == [text]


def test_what_still_stands_in_the_input_line_is_submitted(story: Story) -> None:
    online(story)
    text = script("say only once", "nothing")
    begun(story, text)
    story.site.tmux.paste(story.pane("adam").id, text.encode(), "by-the-dead-sender")
    story.until(lambda: "only once" in story.screen("adam"))
    receipt = receipt_of(settle(story.site, "adam"))
    assert (receipt.outcome, receipt.proof) == (Outcome.DELIVERED, Proof.HOOK)
    assert reported(story) == [text]


@pytest.mark.lesson(4, "what may have arrived is looked for and not sent again")
def test_what_nothing_proves_is_unknown_and_not_sent_again(story: Story) -> None:
    online(story, "silent")
    begun(story, script("say twice?"))
    receipt = receipt_of(settle(story.site, "adam"))
    assert (receipt.outcome, receipt.proof) == (Outcome.UNKNOWN, Proof.NONE)
    assert "twice?" not in story.screen("adam")
    assert story.worker("adam").pending == ()


@pytest.mark.lesson(4, "what may have arrived is looked for and not sent again")
def test_an_earlier_text_of_the_same_words_proves_nothing(story: Story) -> None:
    online(story)
    text = script("nothing")
    assert receipt_of(send(story, text)).proof is Proof.HOOK
    work_news(story.site, story.site.worker("adam"))
    assert story.prompts("adam") == 1
    begun(story, text)
    end_abruptly(story.pane("adam").server_pid)
    assert receipt_of(settle(story.site, "adam")).outcome is Outcome.UNKNOWN


@pytest.mark.lesson(45, "two identical texts need two proofs")
def test_the_report_of_a_queued_text_does_not_prove_the_next_one_of_the_same_words(story: Story) -> None:
    online(story)
    send(story, script("hang"))
    story.until(lambda: "Working" in story.screen("adam"))
    text = script("nothing")
    assert receipt_of(send(story, text)).outcome is Outcome.QUEUED
    (sent,) = story.worker("adam").sent
    worker, digests = story.worker("adam"), prompt_digests(text)
    terminal = TypedTerminal(story.site, worker, story.site.agent_of(worker), story.site.tmux, "", text, digests)
    assert not terminal.heard([sent.digests[0]])
    assert terminal.heard([sent.digests[0]] * 2)

    story.press("adam", "Escape")
    story.look_until("adam", lambda: story.prompts("adam") == 2)
    assert story.worker("adam").sent == ()


# --- what the agent wrote down itself ---------------------------------------------------------------


@pytest.fixture
def writes_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo agent, but with transcripts where Claude Code has them, and no reports of prompts."""
    told = replace(demo_agent.agent(), transcripts=claude.TRANSCRIPTS, reports_events=False)
    monkeypatch.setitem(cast("dict[str, object]", registry.BUILT_IN), "demo", lambda: told)


def written(story: Story, text: str, at: float) -> None:
    """A line as Claude Code writes it."""
    project = "".join(c if c.isascii() and c.isalnum() else "-" for c in story.worker("adam").worktree_path)
    file = Path(os.environ["HOME"], ".claude", "projects", project, "conversation.jsonl")
    file.parent.mkdir(parents=True, exist_ok=True)
    line = {
        "type": "user",
        "message": {"role": "user", "content": text},
        "timestamp": f"{datetime.fromtimestamp(at, UTC)}",
    }
    with file.open("a") as lines:
        lines.write(json.dumps(line) + "\n")


@pytest.mark.lesson(2, "proof is the agent's own report, or an input line seen full and then empty")
@pytest.mark.lesson(4, "what may have arrived is looked for and not sent again")
@pytest.mark.usefixtures("writes_down")
def test_what_stands_in_the_agents_transcript_was_delivered(story: Story) -> None:
    online(story)
    begun(story, "Say it once.")
    written(story, "Say it once.", story.site.now() + 1)
    receipt = receipt_of(settle(story.site, "adam"))
    assert (receipt.outcome, receipt.proof) == (Outcome.DELIVERED, Proof.TRANSCRIPT)
    assert "Say it once." not in story.screen("adam")


@pytest.mark.usefixtures("writes_down")
def test_what_an_agent_wrote_down_that_has_ended_is_unknown(story: Story) -> None:
    """The model may never have heard it."""
    online(story)
    begun(story, "Say it once.")
    written(story, "Say it once.", story.site.now() + 1)
    end_abruptly(story.pane("adam").pid)
    assert receipt_of(settle(story.site, "adam")).outcome is Outcome.UNKNOWN


@pytest.mark.lesson(4, "what may have arrived is looked for and not sent again")
@pytest.mark.usefixtures("writes_down")
def test_what_stood_in_the_transcript_before_proves_nothing(story: Story) -> None:
    online(story)
    written(story, "Say it again.", story.site.now() - 60)
    begun(story, "Say it again.")
    assert receipt_of(settle(story.site, "adam")).outcome is Outcome.UNKNOWN


# --- cut short --------------------------------------------------------------------------------------

DEAF = """
[agents.deaf]
command = ["sh", "-c", "stty -echo; printf '> '; exec sleep 1000"]
pack = "generic"
"""
"""It shows a prompt and takes nothing."""


@contextmanager
def sending(story: Story) -> Iterator[subprocess.Popen[bytes]]:
    """A command that has just typed a text, and waits."""
    story.begin("adam", agent="deaf", agents=DEAF)
    decide_and_run(story.site, "adam", ev.StartAsked(story.site.now()))
    words = ("message", "adam", "does it arrive?", "--json")
    sender = subprocess.Popen([*LLMC, "--root", story.root.path, *words], stdout=subprocess.PIPE)
    story.until(lambda: any(step.begun for step in story.worker("adam").pending))
    yield sender
    receipt = json.loads(sender.communicate(timeout=120)[0])
    assert (receipt["outcome"], sender.returncode) in (("unknown", 4), ("undelivered", 1))


def test_a_terminal_that_goes_away_in_the_middle_leaves_a_receipt(story: Story) -> None:
    """Not a bare error: whoever sent the text has to know that it may have arrived."""
    with sending(story):
        end_abruptly(story.pane("adam").server_pid)


def test_a_state_that_is_damaged_in_the_middle_leaves_a_receipt(story: Story) -> None:
    with sending(story):
        Path(story.root.path, "state.json").write_text("{")


def test_a_text_that_is_in_the_record_is_not_said_to_be_refused(story: Story) -> None:
    """The disk is full from then on: whoever goes on with the record sends it once there is room."""
    online(story)
    site = story.site
    site.ledger.apply("adam", ev.MessageGiven(site.now(), script("nothing")))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        settled = settle(site, "adam")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    receipt = receipt_of(settled)
    assert (receipt.outcome, settled.refusal) == (Outcome.UNKNOWN, None)
    assert "is sent when that is made right" in receipt.reason
    assert reported(story) == []
    assert receipt_of(settle(site, "adam")).outcome is Outcome.DELIVERED


def test_what_we_typed_ourselves_and_could_not_submit_is_cleared_before_the_next_text(story: Story) -> None:
    online(story)
    story.llmc("config", "set", "policy.input_wait_secs", "1")
    left = "a task that got stuck\nwith a second line\nand a third"
    story.site.tmux.paste(story.pane("adam").id, left.encode(), "left")
    story.until(lambda: "and a third" in story.screen("adam"))
    assert "draft" in story.json("message", "adam", "hello", code=1)["reason"]
    story.rewrite("adam", leftover=left)
    assert story.json("message", "adam", "hello")["outcome"] == "delivered"
    assert "a task that got stuck" not in story.screen("adam").split("hello")[-1]
    assert story.worker("adam").leftover == ""


@pytest.mark.parametrize("draft", ["a task that got stuck, with some words of mine", "a task that got stuck with"])
def test_a_draft_that_begins_like_what_we_left_is_somebodys(story: Story, draft: str) -> None:
    online(story)
    story.llmc("config", "set", "policy.input_wait_secs", "1")
    story.rewrite("adam", leftover="a task that got stuck\nwith a second line\nand a third")
    story.site.tmux.type_text(story.pane("adam").id, draft)
    story.until(lambda: draft in story.screen("adam"))
    assert "draft" in story.json("message", "adam", "hello", code=1)["reason"]
    assert draft in story.screen("adam")


def test_what_we_left_is_over_when_somebody_has_submitted_it(story: Story) -> None:
    online(story)
    left = "a task that got stuck\ndemo:nothing"
    story.rewrite("adam", leftover=left)
    story.site.tmux.paste(story.pane("adam").id, left.encode(), "left")
    story.until(lambda: "got stuck" in story.screen("adam"))
    story.press("adam", "Enter")
    story.look_until("adam", lambda: story.worker("adam").leftover == "")
