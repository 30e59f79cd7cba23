"""The commands of every day on the demo agent: tasks, messages, reviews, and what is kept of everything."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from llmc.host.processes import is_running
from llmc.model import Session, Turn, Work, Worker
from testing.story import Story, end_abruptly, script


@pytest.fixture
def up(story: Story) -> Story:
    """One worker and a daemon."""
    story.begin("adam").up()
    return story


# --- start ------------------------------------------------------------------------------------------


def test_a_task_goes_to_whoever_is_idle_for_longest(story: Story) -> None:
    story.begin("adam", "baker").up()
    story.work("adam", "write a.txt x", "commit Add a")
    story.llmc("accept", "adam")
    said = story.json("start", "--prompt", script("write b.txt x", "commit Add b"))
    assert (said["worker"], said["outcome"], said["proof"]) == ("baker", "delivered", "hook")
    story.wait("baker", Work.NEEDS_REVIEW)


def test_without_a_free_worker_nothing_starts(story: Story) -> None:
    story.begin()
    assert "llmc add NAME" in story.llmc("start", "--prompt", "x", code=1).err
    story.llmc("add", "adam", "--agent", "demo")
    assert (
        "no worker is free\nhint: `llmc up --detach` brings adam up" in story.llmc("start", "--prompt", "x", code=1).err
    )
    story.up()
    story.task("adam", "hang")
    assert "no worker is free" in story.llmc("start", "--prompt", "x", code=1).err
    assert "adam is working" in story.llmc("start", "--worker", "adam", "--prompt", "x", code=1).err
    assert story.prompts("adam") <= 1


def test_the_task_may_stand_alone(up: Story) -> None:
    task = script("write one.txt x", "commit Add one")
    assert up.json("start", "--worker", "adam", task)["outcome"] == "delivered"
    assert up.wait("adam", Work.NEEDS_REVIEW).current_prompt == task
    assert "the task is given twice" in up.llmc("start", "--worker", "adam", "one", "--prompt", "two", code=2).err


def test_of_several_adds_at_once_one_wins_and_keeps_what_it_made(story: Story) -> None:
    story.begin()
    started = [story.spawn("add", "adam", "--agent", "demo") for _ in range(4)]
    assert sorted(process.wait() for process in started) == [0, 1, 1, 1]
    worker = story.worker("adam")
    assert Path(worker.worktree_path, ".git").exists()
    assert story.git("rev-parse", "llmc/adam", cwd=story.root.path) == worker.base_sha


def test_of_two_tasks_at_once_exactly_one_wins(up: Story) -> None:
    tasks = [script(f"write {n}.txt x", f"commit Add {n}") for n in ("one", "two")]
    started = [up.spawn("start", "--worker", "adam", "--prompt", task) for task in tasks]
    codes = [process.wait() for process in started]
    assert sorted(codes) == [0, 1]
    worker = up.wait("adam", Work.NEEDS_REVIEW)
    assert worker.current_prompt == tasks[codes.index(0)]
    assert up.prompts("adam") == 1


def test_a_worktree_with_changes_of_nobody_is_not_used(up: Story) -> None:
    left = Path(up.worker("adam").worktree_path, "left.txt")
    left.write_text("somebody's\n")
    said = up.llmc("start", "--worker", "adam", "--prompt", "x", code=1)
    assert "left.txt" in said.err
    assert "llmc reset adam" in said.err
    assert left.read_text() == "somebody's\n"
    assert up.worker("adam").work is Work.IDLE


def test_one_can_wait_for_the_end(up: Story) -> None:
    said = up.llmc("start", "--worker", "adam", "--wait", "--prompt", script("write a.txt x", "commit Add a"))
    assert "adam: needs_review" in said.out


# --- what an agent may come to ----------------------------------------------------------------------


@pytest.mark.lesson(14, "the end of a turn is not the end of the work: git decides")
def test_a_turn_without_a_commit_needs_the_person_and_a_message_lets_it_go_on(up: Story) -> None:
    up.task("adam", "say what now?")
    waiting = up.wait("adam", Work.NEEDS_INPUT)
    assert waiting.evidence.detail == "stopped without a commit: what now?"
    assert waiting.last_words == up.json("status")["workers"][0]["last_words"] == "what now?"
    up.until(lambda: any("what now?" in notice.detail for notice in up.events("adam", "notice")))
    assert "stopped without a commit: what now?" in up.llmc("status").out
    said = up.json("message", "adam", script("write a.txt x", "commit Add a"))
    assert (said["outcome"], said["proof"]) == ("delivered", "hook")
    done = up.wait("adam", Work.NEEDS_REVIEW)
    assert done.current_prompt == script("say what now?"), "the task stays the task"


def test_uncommitted_changes_need_the_person(up: Story) -> None:
    up.task("adam", "write half.txt x")
    waiting = up.wait("adam", Work.NEEDS_INPUT)
    assert waiting.evidence.detail.startswith("stopped with uncommitted changes and without a commit")


def test_a_permission_dialog_needs_the_person_and_takes_no_message(up: Story) -> None:
    up.task("adam", "permit make all", "write a.txt x", "commit Add a")
    waiting = up.wait("adam", Work.NEEDS_INPUT)
    assert waiting.evidence.detail == "it asks for permission: make all"

    said = up.json("message", "adam", "are you there?", code=1)
    assert (said["outcome"], said["proof"]) == ("undelivered", "none")
    assert "a dialog is open (permission)" in said["reason"]
    after = up.worker("adam")
    assert (after.work, after.turn, after.current_prompt) == (waiting.work, waiting.turn, waiting.current_prompt)
    assert up.prompts("adam") == 1

    up.press("adam", "y")
    up.wait("adam", Work.NEEDS_REVIEW)


@pytest.mark.lesson(19, "limits and logins are states of their own, with the time of their end")
def test_a_failure_of_the_provider_is_no_crash(up: Story) -> None:
    up.task("adam", "fail rate_limit come back at noon")
    waiting = up.wait("adam", Work.NEEDS_INPUT)
    assert waiting.evidence.detail == "its turn failed (rate_limit): come back at noon"
    assert (waiting.session, waiting.crash_count) == (Session.UP, 0)
    (shown,) = up.json("status")["workers"]
    assert (shown["attention"]["state"], shown["attention"]["detail"]) == ("ERROR", "rate_limit")


# --- review, reject, accept -------------------------------------------------------------------------


@pytest.mark.lesson(29, "a worktree is reset in place, under its running agent")
def test_work_is_reviewed_sent_back_reworked_and_accepted(up: Story) -> None:
    agent = up.pane("adam").pid
    first = up.work("adam", "write a.txt x", "commit Add a")
    shown = up.json("review")
    assert (shown["worker"], shown["commit_sha"]) == ("adam", first.commit_sha)
    assert "+x" in shown["diff"]
    assert "a.txt" in up.llmc("review", "adam", "--interface", "stat").out

    said = up.json("reject", f"Please add b too.\n{script('write b.txt y', 'amend')}")
    assert (said["worker"], said["outcome"]) == ("adam", "delivered")
    up.until(lambda: up.prompts("adam") == 2)
    second = up.wait("adam", Work.NEEDS_REVIEW)
    assert second.commit_sha != first.commit_sha

    up.llmc("review")
    assert "accepted as" in up.llmc("accept").out
    assert up.subjects() == ["first", "Add a"]
    assert sorted(path.name for path in up.repository.iterdir() if path.suffix) == ["a.txt", "b.txt"]
    done = up.wait("adam", Work.IDLE, Session.UP)
    assert (done.current_prompt, done.commit_sha, done.rejected_sha) == ("", None, None)
    assert up.pane("adam").pid == agent, "its worktree was reset under it"
    up.work("adam", "write c.txt z", "commit Add c")


def test_work_that_comes_back_unchanged_needs_the_person(up: Story) -> None:
    first = up.work("adam", "write a.txt x", "commit Add a")
    up.llmc("reject", "adam", f"No.\n{script('say I think it is fine')}")
    waiting = up.wait("adam", Work.NEEDS_INPUT)
    assert waiting.evidence.detail == "stopped without a new commit since the rejection: I think it is fine"
    assert waiting.rejected_sha == first.commit_sha


def test_the_feedback_comes_with_the_diff_that_it_is_about(up: Story) -> None:
    up.work("adam", "write a.txt unmistakable", "commit Add a")
    up.llmc("reject", "adam", "--file", str(feedback_file(up)))
    up.until(lambda: up.prompts("adam") == 2)
    up.until(lambda: "Pasted text" in up.screen("adam") or "+unmistakable" in up.screen("adam"))
    assert up.worker("adam").rejected_sha is not None


def feedback_file(story: Story) -> Path:
    file = story.place / "feedback.md"
    file.write_text(f"Not like this.\n{script('hang')}\n")
    return file


def test_who_has_reviewed_nothing_is_told_what_to_do(up: Story) -> None:
    for words in (("accept",), ("reject", "no")):
        said = up.llmc(*words, code=1)
        assert "no work was reviewed yet" in said.err
        assert "nothing waits for review: see `llmc status`" in said.err
    assert "no work waits for review" in up.llmc("review", code=1).err
    up.work("adam", "write a.txt x", "commit Add a")
    assert "llmc review adam" in up.llmc("accept", code=1).err


def test_what_is_accepted_cannot_be_accepted_again(up: Story) -> None:
    up.work("adam", "write a.txt x", "commit Add a")
    up.llmc("accept", "adam")
    assert "adam is idle" in up.llmc("accept", "adam", code=1).err
    assert up.subjects() == ["first", "Add a"]


def test_work_is_rebased_by_hand_where_no_daemon_does_it(up: Story) -> None:
    up.work("adam", "write a.txt x", "commit Add a")
    end_abruptly(up.daemon())
    tip = up.commit_upstream("b.txt", "b\n", "By hand")
    said = up.json("rebase", "adam")
    assert (said["status"], said["onto"], said["conflicted_files"]) == ("needs_review", tip, [])
    assert up.worker("adam").base_sha == tip
    assert up.json("review")["diff"].count("diff --git") == 1, "only its own work"


# --- reset, undo, nuke ------------------------------------------------------------------------------


def test_a_reset_can_be_undone_with_commits_and_files(up: Story) -> None:
    before = up.work("adam", "write a.txt x", "commit Add a", "write half.txt y")
    worktree = Path(before.worktree_path)
    assert "nothing was changed" in up.llmc("reset", "adam", code=1).err
    assert (worktree / "half.txt").exists()

    assert "`llmc undo adam` brings" in up.llmc("reset", "adam", "--yes").out
    assert up.wait("adam", Work.IDLE).current_prompt == ""
    assert not (worktree / "a.txt").exists()
    assert not (worktree / "half.txt").exists()
    (backup,) = up.json("undo", "--list")
    assert (backup["worker"], backup["head_sha"], backup["dirty"]) == ("adam", before.commit_sha, ["half.txt"])

    up.llmc("undo", "adam")
    restored = up.wait("adam", Work.NEEDS_REVIEW)
    assert restored.commit_sha == before.commit_sha
    assert (worktree / "half.txt").read_text() == "y\n"
    assert (worktree / "a.txt").read_text() == "x\n"


def test_a_reset_in_the_middle_of_a_turn_begins_afresh(up: Story) -> None:
    up.task("adam", "write half.txt x", "hang")
    up.until(lambda: Path(up.worker("adam").worktree_path, "half.txt").exists())
    agent = up.pane("adam").pid
    up.llmc("reset", "adam", "--yes")
    after = up.wait("adam", Work.IDLE, Session.UP)
    assert after.turn is Turn.OVER
    assert after.crash_count == 0
    assert not is_running(agent)
    assert not Path(after.worktree_path, "half.txt").exists()
    assert len(up.json("undo", "--list")) == 1
    up.work("adam", "write a.txt x", "commit Add a")


def test_nothing_is_removed_unasked(up: Story) -> None:
    worker = up.work("adam", "write a.txt x", "commit Add a")
    said = up.llmc("nuke", "adam", code=1)
    assert "commits that are not merged" in said.err
    assert up.worker("adam").commit_sha == worker.commit_sha
    up.llmc("nuke", "--all", "--yes")
    assert up.json("status")["workers"] == []
    (backup,) = up.json("undo", "--list")
    assert (backup["head_sha"], backup["reason"]) == (worker.commit_sha, "nuke")


# --- looking ----------------------------------------------------------------------------------------


@pytest.mark.lesson(15, "reports that are missing or not trusted are noticed, and the deciding signal is shown")
def test_everything_can_be_looked_at(up: Story) -> None:
    up.work("adam", "say hello there", "write a.txt x", "commit Add a")
    assert "hello there" in up.llmc("peek", "adam", "-n", "100").out
    assert len(up.llmc("peek", "adam", "-n", "3").out.splitlines()) <= 3

    explained = up.json("explain", "adam")
    assert (explained["status"], explained["evidence"]["signal"]) == ("needs_review", "hook.turn_end")
    assert explained["signals"]["worktree"] == "clean"
    assert explained["signals"]["branch"].startswith("work at ")
    assert any("llmc accept adam" in move for move in explained["next"])
    assert "because: hook.turn_end" in up.llmc("explain", "adam").out

    signals = [event["signal"] or event["kind"] for event in up.json("events", "adam")]
    assert signals.index("command.start") < signals.index("hook.prompt") < signals.index("hook.turn_end")
    assert up.json("events", "-n", "1")[0]["worker"] == "adam"
    assert up.json("logs", "adam")[0]["kind"] == "added"


def test_looking_at_nobody_says_who_there_is(up: Story) -> None:
    for verb in ("peek", "explain", "events", "logs", "restart", "reset", "rebase", "message"):
        said = up.llmc(verb, "eve", *(["hello"] if verb == "message" else []), code=1)
        assert "there is no worker named 'eve'" in said.err
        assert "adam" in said.err


def test_a_restart_keeps_the_work(up: Story) -> None:
    before = up.work("adam", "write a.txt x", "commit Add a")
    agent = up.pane("adam").pid
    said = up.json("restart", "adam")
    assert said == {"worker": "adam", "status": "needs_review", "lost": [], "resent": None}
    after = up.worker("adam")
    assert not is_running(agent)
    assert up.pane("adam").pid != agent
    assert (after.commit_sha, after.current_prompt, after.crash_count) == (
        before.commit_sha,
        before.current_prompt,
        0,
    )


# --- kill -9 at any moment --------------------------------------------------------------------------

ROUNDS = 2


def killed(story: Story, moment: random.Random, longest: float, *words: str) -> None:
    """Runs a command and ends it at a random moment, or just after its end."""
    process = story.spawn(*words)
    after = moment.uniform(0.05, 1.1) * longest
    print(f"kill -9 of `llmc {words[0]}` after {after:.3f} s")  # noqa: T201 - for whoever reads a failure
    time.sleep(after)
    process.kill()
    process.wait()


def seconds_of(story: Story, *words: str) -> float:
    began = time.monotonic()
    assert story.spawn(*words).wait() == 0
    return time.monotonic() - began


def came_to_rest(story: Story) -> Worker:
    """The worker when nothing is under way any more: idle, to be reviewed, or nobody knows whether it has its task."""

    def rests() -> bool:
        worker, receipts = story.worker("adam"), story.events("adam", "receipt")
        unknown = bool(receipts) and receipts[-1].detail.startswith("unknown")
        return not worker.pending and (worker.work in (Work.IDLE, Work.NEEDS_REVIEW) or unknown)

    story.until(rests)
    return story.worker("adam")


@pytest.mark.lesson(38, "an intention is saved before its effect, and an effect can be repeated")
@pytest.mark.parametrize(
    ("seed", "daemon"), [*((seed, True) for seed in range(5)), *((seed, False) for seed in range(5, 7))]
)
def test_a_killed_command_happens_once_or_not_at_all(up: Story, seed: int, daemon: bool) -> None:
    moment = random.Random(seed)
    start_secs = seconds_of(up, "start", "--worker", "adam", "--prompt", script("write 0.txt x", "commit Add 0"))
    up.wait("adam", Work.NEEDS_REVIEW)
    accept_secs = seconds_of(up, "accept", "adam")
    if not daemon:
        end_abruptly(up.daemon())
    for n in range(1, ROUNDS + 1):
        prompts = up.prompts("adam")
        start = ("start", "--worker", "adam", "--prompt", script(f"write {n}.txt x", f"commit Add {n}"))
        killed(up, moment, start_secs, *start)
        if not daemon:
            up.spawn(*start).wait()
            up.look_until("adam", lambda: up.worker("adam").turn is not Turn.OPEN)
        worker = came_to_rest(up)
        assert up.prompts("adam") - prompts <= 1
        if worker.work is not Work.NEEDS_REVIEW:
            up.llmc("reset", "adam", "--yes")
            continue
        assert up.prompts("adam") - prompts == 1
        killed(up, moment, accept_secs, "accept", "adam")
        if not daemon:
            up.spawn("accept", "adam").wait()
        worker = came_to_rest(up)
        assert up.subjects().count(f"Add {n}") == (1 if worker.work is Work.IDLE else 0)
        if worker.work is Work.NEEDS_REVIEW:
            up.llmc("accept", "adam")
        assert up.subjects().count(f"Add {n}") == 1
    assert up.git("fsck", "--no-dangling") == ""
