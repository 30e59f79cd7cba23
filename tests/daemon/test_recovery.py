"""Recovery in real terminals, on the demo agent: what is done under `auto`, and what is only shown otherwise."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from llmc.core.delivery.texts import prompt_digests
from llmc.model import Session, Turn, Work
from llmc.perform.going_on import going_on_text
from testing.story import SILENT, Story, end_abruptly, script

AUTO = {"policy__autonomy": "auto", "policy__restart_backoff_secs": "0.2"}
NOTE = "the session ended while you worked on this"

CRASH = ("sleep 2", "crash 3")
"""Late enough for whoever sent the task to see that it has arrived."""


def in_the_middle(story: Story, name: str) -> None:
    """A task that never ends by itself."""
    story.task(name, "write half.txt x", "hang")
    half = Path(story.worker(name).worktree_path, "half.txt")
    story.until(lambda: half.exists() and story.worker(name).turn is Turn.OPEN)


def was_told_again(story: Story, name: str) -> bool:
    """Whether the last prompt that the agent reports is its task, with the note about what may be there already."""
    worker = story.worker(name)
    text = going_on_text(story.site, worker, resumed=False)
    return NOTE in text and worker.heard_prompts[-1] in prompt_digests(text)


def notices(story: Story, name: str) -> list[str]:
    return [event.detail for event in story.events(name, "notice")]


# --- crashes ----------------------------------------------------------------------------------------


def test_a_killed_agent_is_back_at_its_task_which_is_told_once_more(story: Story) -> None:
    story.begin("adam", **AUTO).up()
    in_the_middle(story, "adam")
    end_abruptly(story.pane("adam").pid)
    story.until(lambda: story.prompts("adam") == 2)
    back = story.wait("adam", Work.WORKING, Session.UP)
    assert (back.crash_count, back.current_prompt) == (1, script("write half.txt x", "hang"))
    assert was_told_again(story, "adam")
    assert Path(back.worktree_path, "half.txt").exists()


@pytest.mark.lesson(22, "idleness ends nobody, restarts are bounded, a stop that was asked for is kept")
def test_restarts_have_a_bound_and_then_somebody_is_called(story: Story) -> None:
    story.begin("adam", **AUTO, policy__crash_limit="2").up()
    story.crash("adam", *CRASH)
    failed = story.wait("adam", Work.ERROR, Session.CRASHED)
    assert failed.crash_count == 2
    story.until(lambda: story.prompts("adam") == 2)
    story.until(lambda: any("not restarted again" in text for text in notices(story, "adam")))
    (called,) = [text for text in notices(story, "adam") if "not restarted again" in text]
    bundle = Path(called.rpartition("what is known is in ")[2])
    assert bundle.parent == Path(story.root.diagnostics)
    assert bundle.stat().st_mode & 0o077 == 0
    written = bundle.read_text()
    assert written.startswith("Worker 'adam' needs somebody.\n\nWhy: adam: the agent crashed (exit code 3)")
    assert "demo agent crashed on request" in written
    assert "llmc attach adam" in written
    explained = story.json("explain", "adam")
    assert explained["diagnostics"] == str(bundle)
    assert [each["kind"] for each in explained["troubles"]] == ["error"]


@pytest.mark.lesson(22, "idleness ends nobody, restarts are bounded, a stop that was asked for is kept")
def test_what_an_agent_crashed_at_too_often_is_not_sent_again_until_somebody_says_so(story: Story) -> None:
    story.begin("adam", **AUTO, policy__crash_limit="2").up()
    story.crash("adam", *CRASH)
    story.wait("adam", Work.ERROR, Session.CRASHED)
    story.until(lambda: story.prompts("adam") == 2)

    story.llmc("down")
    story.up()
    back = story.wait("adam", Work.NEEDS_INPUT, Session.UP)
    assert (back.current_prompt, back.crash_count) == (script(*CRASH), 2)
    assert "it crashed 2 times at its task, which was not sent again" in back.evidence.detail
    assert story.prompts("adam") == 2

    story.llmc("message", "adam", script("write a.txt x", "commit Add a"))
    story.wait("adam", Work.NEEDS_REVIEW)


def test_whoever_restarts_a_worker_by_name_has_it_try_again(story: Story) -> None:
    story.begin("adam", **AUTO, policy__crash_limit="1").up()
    story.crash("adam", *CRASH)
    story.wait("adam", Work.ERROR, Session.CRASHED)
    story.until(lambda: story.prompts("adam") == 1)
    story.llmc("restart", "adam")
    story.until(lambda: story.prompts("adam") == 2)
    assert story.wait("adam", Work.ERROR, Session.CRASHED).crash_count == 1


def test_what_crashed_is_only_shown_to_who_did_not_choose_otherwise(story: Story) -> None:
    story.begin("adam", "baker", **AUTO)
    story.llmc("config", "set", "workers.adam.autonomy", "manual")
    story.up()
    for name in ("adam", "baker"):
        in_the_middle(story, name)
        end_abruptly(story.pane(name).pid)
    story.until(lambda: story.prompts("baker") == 2)
    story.wait("adam", Work.WORKING, Session.CRASHED)
    assert story.prompts("adam") == 1
    story.llmc("patrol")
    shown = {worker["name"]: worker["troubles"] for worker in story.json("status")["workers"]}
    assert [each["do"] for each in shown["adam"]] == ["`llmc restart adam` starts it again"]
    assert shown["baker"] == []
    assert "! adam: its agent has ended unexpectedly; `llmc restart adam` starts it again" in story.llmc("status").out


@pytest.mark.lesson(22, "idleness ends nobody, restarts are bounded, a stop that was asked for is kept")
def test_an_agent_that_was_closed_stays_closed(story: Story) -> None:
    story.begin("adam", "baker", **AUTO).up()
    in_the_middle(story, "adam")
    story.press("adam", "Escape")
    story.until(lambda: "Interrupted" in story.screen("adam"))
    story.press("adam", "/exit", "Enter")
    closed = story.wait("adam", session=Session.DOWN)
    assert (closed.crash_count, dict(closed.timers)) == (0, {})
    in_the_middle(story, "baker")
    story.llmc("patrol")
    assert story.worker("adam").session is Session.DOWN


# --- limits -----------------------------------------------------------------------------------------


@pytest.mark.lesson(19, "limits and logins are states of their own, with the time of their end")
def test_a_rate_limit_is_waited_for(story: Story) -> None:
    story.begin("adam", **AUTO).up()
    story.task("adam", "fail rate_limit try again in 1 s")
    story.until(lambda: story.worker("adam").blocked is not None)
    limited = story.worker("adam")
    assert limited.blocked is not None
    assert limited.blocked.kind == "rate_limit"
    assert limited.blocked.until_unix == pytest.approx(limited.blocked.since_unix + 1.0)
    assert "(rate limit until " in story.llmc("status").out
    story.until(lambda: story.prompts("adam") == 2)
    story.wait("adam", Work.NEEDS_REVIEW)  # a prompt without a script makes the demo agent write a note
    assert story.worker("adam").blocked is None


def test_a_limit_that_only_the_screen_shows_is_waited_for_until_it_is_over(story: Story) -> None:
    """Codex and others report nothing of it."""
    story.begin("adam", agent="silent", agents=SILENT, **AUTO).up()
    story.task("adam", "fail rate_limit Usage limit reached, try again in 2 days 3 hours.")
    story.until(lambda: story.worker("adam").blocked is not None)
    limited = story.worker("adam")
    assert limited.blocked is not None
    assert limited.blocked.until_unix == pytest.approx(limited.blocked.since_unix + 51 * 3600)
    day = time.strftime("%b %d, ", time.localtime(limited.blocked.until_unix))
    assert f"(rate limit until {day}" in story.llmc("status").out
    assert "it goes on by itself in 2d" in story.llmc("explain", "adam").out


# --- silence ----------------------------------------------------------------------------------------


QUICKLY = {
    "defaults__patrol_interval_secs": "0.3",
    "policy__nudge_after_secs": "2",
    "policy__second_nudge_after_secs": "4",
    "policy__escalate_after_secs": "6",
}


def test_who_gives_no_sign_of_life_is_asked_twice_and_then_a_person_is_called(story: Story) -> None:
    story.begin("adam", **AUTO, **QUICKLY).up()
    in_the_middle(story, "adam")
    called = story.wait("adam", Work.NEEDS_INPUT)
    assert called.session is Session.UP
    assert "although it was asked twice" in called.evidence.detail
    assert [event.detail.partition(":")[2] for event in story.events("adam", "silence")][:2] == [" asked", " asked"]
    story.until(lambda: list(Path(story.root.diagnostics).glob("adam-*.txt")))


@pytest.mark.lesson(22, "idleness ends nobody, restarts are bounded, a stop that was asked for is kept")
def test_silence_is_told_once_and_nobody_is_asked_unasked(story: Story) -> None:
    story.begin("adam", "baker", **QUICKLY).up()
    in_the_middle(story, "adam")
    story.until(lambda: any("gives no sign of life" in text for text in notices(story, "adam")))
    story.until(lambda: story.site.now() - story.worker("adam").last_activity_unix > 7)
    assert len([text for text in notices(story, "adam") if "sign of life" in text]) == 1
    assert (story.worker("adam").work, story.prompts("adam")) == (Work.WORKING, 1)
    story.llmc("patrol")
    (adam, _) = story.json("status")["workers"]
    assert [each["kind"] for each in adam["troubles"]] == ["silent"]


@pytest.mark.lesson(16, "interrupts and deaths that nobody reports are seen by process and screen")
def test_a_screen_tells_what_reports_did_not(story: Story) -> None:
    """No report tells of an interrupt by Esc: the screen does."""
    story.begin("adam", policy__autonomy="assist", policy__quiet_after_secs="1", defaults__patrol_interval_secs="0.5")
    story.up()
    in_the_middle(story, "adam")
    story.press("adam", "Escape")
    asked = story.wait("adam", Work.NEEDS_INPUT)
    assert asked.evidence.detail == "interrupted, as its screen shows"


# --- the machine ------------------------------------------------------------------------------------


def test_after_a_reboot_everybody_is_back_at_what_they_did(story: Story) -> None:
    story.begin("adam", "baker", "charlie", **AUTO).up()
    in_the_middle(story, "adam")
    reviewed = story.work("baker", "write b.txt x", "commit Add b")
    before = {name: story.prompts(name) for name in ("adam", "baker", "charlie")}
    server = story.pane("adam").server_pid
    end_abruptly(story.daemon())
    end_abruptly(server)
    story.up()
    story.until(lambda: story.prompts("adam") == before["adam"] + 1)
    assert story.wait("adam", Work.WORKING, Session.UP).crash_count == 0
    assert story.wait("baker", Work.NEEDS_REVIEW, Session.UP).commit_sha == reviewed.commit_sha
    assert story.wait("charlie", Work.IDLE, Session.UP).crash_count == 0
    assert was_told_again(story, "adam")
    story.llmc("patrol")
    assert {name: story.prompts(name) for name in before} == {**before, "adam": before["adam"] + 1}


def test_the_end_of_tmux_alone_is_mended_too(story: Story) -> None:
    story.begin("adam", "baker", **AUTO).up()
    in_the_middle(story, "adam")
    end_abruptly(story.pane("adam").server_pid)
    story.until(lambda: story.prompts("adam") == 2)
    story.wait("adam", Work.WORKING, Session.UP)
    story.wait("baker", Work.IDLE, Session.UP)
