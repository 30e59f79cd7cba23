"""What is there becomes events: reports, branches, terminals, timers. Looking twice changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from llmc.care.catch_up import session_news, work_news
from llmc.core.lifecycle import events as ev
from llmc.git.rebase import abort_rebase, rebase_in_progress
from llmc.model import Session, Turn, Work
from llmc.perform.steps import decide_and_run, settle
from llmc.tmux.parsing import Pane
from llmc.tmux.server import TmuxError
from testing.story import SILENT, Story


def report(story: Story, name: str, event: str, **fields: object) -> None:
    """What an agent does to report: a file that has its name only once it is complete."""
    spool = Path(story.root.spool(name))
    spool.mkdir(parents=True, exist_ok=True)
    number = len(list(spool.iterdir()))
    unfinished = spool / f".{number:06d}"
    unfinished.write_text(json.dumps({"event": event, **fields}))
    os.utime(unfinished, (1000.0 + number, 1000.0 + number))
    unfinished.rename(spool / f"{number:06d}.json")


def at_work(story: Story, **fields: object) -> None:
    """A worker in the middle of a task whose agent is up, as far as the record says."""
    working = {"work": Work.WORKING, "session": Session.UP, "turn": Turn.OPEN, "current_prompt": "do it"}
    story.begin("adam").rewrite("adam", **{**working, **fields})


def pane_of_adam(story: Story) -> Pane | None:
    return story.site.pane_of(story.worker("adam").session_id)


def tend(story: Story) -> list[str]:
    return [decision.signal for decision in work_news(story.site, story.site.worker("adam")) if decision.changed]


# --- reports ----------------------------------------------------------------------------------------


@pytest.mark.lesson(14, "the end of a turn is not the end of the work: git decides")
def test_the_end_of_a_turn_with_a_commit_asks_for_review(story: Story) -> None:
    at_work(story)
    sha = story.commit_as("adam", "a.txt", "x\n", "Add a")
    report(story, "adam", "turn_end")
    tend(story)
    worker = story.worker("adam")
    assert (worker.work, worker.commit_sha) == (Work.NEEDS_REVIEW, sha)
    assert worker.evidence.at_unix == 1000.0, "when the agent said so, not when we read it"
    assert tend(story) == [], "looking again changes nothing"


@pytest.mark.lesson(14, "the end of a turn is not the end of the work: git decides")
def test_the_end_of_a_turn_without_a_commit_asks_for_the_person(story: Story) -> None:
    at_work(story)
    report(story, "adam", "turn_end")
    tend(story)
    worker = story.worker("adam")
    assert (worker.work, worker.evidence.detail) == (Work.NEEDS_INPUT, "stopped without a commit")


def another_repository(story: Story) -> None:
    """What an agent may do that was told to begin anew."""
    worktree = Path(story.worker("adam").worktree_path)
    (worktree / ".git").unlink()
    story.git("init", "--quiet", cwd=str(worktree))
    story.git("add", "--all", cwd=str(worktree))
    story.git("commit", "--quiet", "-m", "All of it", cwd=str(worktree))


@pytest.mark.parametrize("work", [Work.WORKING, Work.REJECTED, Work.REBASING])
def test_the_end_of_a_turn_in_another_repository_asks_for_the_person(story: Story, work: Work) -> None:
    at_work(story, work=work)
    another_repository(story)
    tend(story)
    assert story.worker("adam").work is work, "it is still in the middle of its turn"
    report(story, "adam", "turn_end")
    tend(story)
    worker = story.worker("adam")
    assert (worker.work, worker.turn) == (Work.NEEDS_INPUT, Turn.OVER)
    told = "its worktree is not LLMC's any more: its .git is a repository of its own; `llmc doctor` says what to do"
    assert worker.evidence.detail == told
    assert tend(story) == [], "looking again changes nothing"


def test_work_on_its_branch_is_not_forgotten_for_another_repository(story: Story) -> None:
    at_work(story)
    sha = story.commit_as("adam", "a.txt", "x\n", "Add a")
    report(story, "adam", "turn_end")
    tend(story)
    another_repository(story)
    tend(story)
    assert (story.worker("adam").work, story.worker("adam").commit_sha) == (Work.NEEDS_REVIEW, sha)


@pytest.mark.lesson(14, "the end of a turn is not the end of the work: git decides")
def test_uncommitted_changes_are_named_as_the_reason(story: Story) -> None:
    at_work(story)
    Path(story.worker("adam").worktree_path, "half.txt").write_text("half done\n")
    report(story, "adam", "turn_end")
    tend(story)
    worker = story.worker("adam")
    assert worker.work is Work.NEEDS_INPUT
    assert worker.evidence.detail == "stopped with uncommitted changes and without a commit"


@pytest.mark.lesson(20, "who has something running in the background is busy")
def test_what_still_runs_in_the_background_is_not_done(story: Story) -> None:
    at_work(story)
    story.commit_as("adam", "a.txt", "x\n", "Add a")
    report(story, "adam", "turn_end", background=True)
    tend(story)
    assert story.worker("adam").work is Work.WORKING


def test_a_flood_of_reports_is_read_to_its_end(story: Story) -> None:
    at_work(story)
    for _ in range(450):
        report(story, "adam", "activity", tool="Edit")
    report(story, "adam", "question", text="Which one?")
    tend(story)
    assert story.worker("adam").evidence.detail == "it asks: Which one?"
    assert list(Path(story.root.spool("adam")).glob("*.json")) == []


def test_a_long_row_of_tools_is_one_sign_of_life(story: Story) -> None:
    """An agent that reports like mad, or that was left alone for days, keeps nobody from anything."""
    at_work(story, last_activity_unix=0.0)
    spool = Path(story.root.spool("adam"))
    spool.mkdir(parents=True)
    for number in range(2_100):
        (spool / f"{number:06d}.json").write_text('{"event": "activity", "tool": "Edit"}')
    before = len(story.events("adam"))
    tend(story)
    assert len(list(spool.iterdir())) == 100, "so many at a time, and the rest the next time"
    tend(story)
    assert list(spool.iterdir()) == []
    assert len(story.events("adam")) - before < 10


DIES = """
import os, sys
from llmc.app import open_site
from llmc.care import reports
from llmc.root import Root
reports.take = lambda spooled: os.kill(os.getpid(), 9)
site = open_site(Root(sys.argv[1]))
reports.take_reports(site, site.worker("adam"))
"""


def test_who_is_killed_before_the_files_are_taken_leaves_nothing_to_count_twice(story: Story) -> None:
    at_work(story)
    for number in range(3):
        report(story, "adam", "prompt", sha256=f"{number:064}")
    died = subprocess.run([sys.executable, "-c", DIES, story.root.path], check=False)
    assert died.returncode == -9
    kept = story.worker("adam")
    assert kept.heard_prompts == tuple(f"{number:064}" for number in range(3))
    assert len(list(Path(story.root.spool("adam")).glob("*.json"))) == 3
    assert "hook.prompt" not in tend(story)
    assert story.worker("adam").heard_prompts == kept.heard_prompts
    assert list(Path(story.root.spool("adam")).glob("*.json")) == []
    report(story, "adam", "prompt", sha256=f"{3:064}")
    assert "hook.prompt" in tend(story)
    assert story.worker("adam").heard_prompts == (*kept.heard_prompts, f"{3:064}")


@pytest.mark.lesson(43, "an interrupt that nobody reports is a fact: the screen that says so ends the turn")
@pytest.mark.parametrize("event", ["prompt", "activity", "permission", "interrupted", "turn_end", "failure"])
@pytest.mark.parametrize("of", [{"session": "before"}, {}])
def test_a_late_report_of_the_session_before_moves_nothing(story: Story, event: str, of: dict[str, str]) -> None:
    """The one without a session is older than the present one."""
    for work, turn in ((Work.WORKING, Turn.OPEN), (Work.NEEDS_INPUT, Turn.OVER)):
        if not story.root.exists:
            at_work(story)
        story.rewrite("adam", work=work, turn=turn, launch="now", launched_at_unix=2_000.0)
        before = story.worker("adam")
        report(story, "adam", event, sha256="0" * 64, **of)
        tend(story)
        after = story.worker("adam")
        assert (after.work, after.turn, after.evidence) == (before.work, before.turn, before.evidence)
        assert not Path(story.root.attention_file("adam")).exists()
    assert story.worker("adam").heard_prompts == (("0" * 64,) * 2 if event == "prompt" else ())


@pytest.mark.parametrize("of", [{"session": "now"}, {}])
def test_a_report_of_the_present_session_counts(story: Story, of: dict[str, str]) -> None:
    at_work(story, launch="now", launched_at_unix=500.0)
    report(story, "adam", "turn_end", **of)
    tend(story)
    assert story.worker("adam").turn is Turn.OVER


def test_what_is_no_report_holds_up_nothing(story: Story) -> None:
    at_work(story)
    report(story, "adam", "turn_start")
    (Path(story.root.spool("adam")) / "broken.json").write_text("{")
    report(story, "adam", "permission", command="rm x")
    tend(story)
    assert story.worker("adam").evidence.detail == "it asks for permission: rm x"
    assert list(Path(story.root.spool("adam")).glob("*.json")) == []


# --- branches ---------------------------------------------------------------------------------------


def test_a_commit_of_an_agent_that_reports_waits_for_the_end_of_its_turn(story: Story) -> None:
    at_work(story, reports_events=True)
    sha = story.commit_as("adam", "a.txt", "x\n", "Add a")
    tend(story)
    worker = story.worker("adam")
    assert (worker.work, worker.commit_sha) == (Work.WORKING, sha)


@pytest.mark.lesson(25, "ahead is a question of ancestry, and merged work is known by its patch")
def test_work_that_was_merged_elsewhere_no_longer_waits(story: Story) -> None:
    at_work(story, work=Work.WORKING)
    sha = story.commit_as("adam", "a.txt", "x\n", "Add a")
    report(story, "adam", "turn_end")
    tend(story)
    story.git("fetch", "--quiet", story.worker("adam").worktree_path, "HEAD")
    story.git("merge", "--quiet", "--ff-only", sha)
    story.fetch_upstream()
    tend(story)
    worker = story.worker("adam")
    assert (worker.work, worker.commit_sha) == (Work.NEEDS_INPUT, None)
    assert worker.evidence.detail == "main has its work already; `llmc reset adam` makes it idle"


@pytest.mark.lesson(25, "ahead is a question of ancestry, and merged work is known by its patch")
@pytest.mark.parametrize("squashed", [False, True])
def test_work_that_a_person_has_picked_is_recognised_by_its_patch(story: Story, squashed: bool) -> None:
    at_work(story, work=Work.WORKING)
    first = story.commit_as("adam", "a.txt", "x\n", "Add a")
    second = story.commit_as("adam", "b.txt", "y\n", "Add b")
    report(story, "adam", "turn_end")
    tend(story)
    story.commit_upstream("other.txt", "other\n", "Meanwhile")
    story.git("fetch", "--quiet", story.worker("adam").worktree_path, "HEAD")
    story.git("cherry-pick", *(["--no-commit"] if squashed else []), first, second)
    if squashed:
        story.git("commit", "--quiet", "-m", "Both")
    story.fetch_upstream()
    tend(story)
    worker = story.worker("adam")
    assert (worker.work, worker.commit_sha) == (Work.NEEDS_INPUT, None)
    assert worker.evidence.detail == "main has its work already; `llmc reset adam` makes it idle"
    assert tend(story) == [], "its commits are still there, and still no new work"


def test_work_that_was_taken_back_no_longer_waits(story: Story) -> None:
    at_work(story, work=Work.WORKING)
    story.commit_as("adam", "a.txt", "x\n", "Add a")
    report(story, "adam", "turn_end")
    tend(story)
    story.git("reset", "--quiet", "--hard", "HEAD~1", cwd=story.worker("adam").worktree_path)
    tend(story)
    worker = story.worker("adam")
    assert (worker.work, worker.evidence.detail) == (Work.NEEDS_INPUT, "its commits are no longer on its branch")


def test_rejected_work_that_only_moved_is_no_rework(story: Story) -> None:
    at_work(story)
    sha = story.commit_as("adam", "a.txt", "x\n", "Add a")
    story.rewrite("adam", work=Work.REJECTED, commit_sha=sha, rejected_sha=sha, reports_events=True)
    story.commit_upstream("b.txt", "b\n", "Meanwhile")
    story.fetch_upstream()
    worktree = story.worker("adam").worktree_path
    story.git("rebase", "--quiet", "origin/main", cwd=worktree)
    report(story, "adam", "turn_end")
    tend(story)
    worker = story.worker("adam")
    assert worker.evidence.detail == "stopped without a new commit since the rejection"
    assert worker.work is Work.NEEDS_INPUT
    story.git("commit", "--quiet", "--amend", "-m", "Add a, in better words", cwd=worktree)
    tend(story)
    assert story.worker("adam").work is Work.NEEDS_REVIEW, "that is what may have been asked for"


def wander(story: Story, *checkout: str) -> str:
    """A commit in the worktree that the worker's branch does not have."""
    story.git("checkout", "--quiet", *checkout, cwd=story.worker("adam").worktree_path)
    return story.commit_as("adam", "a.txt", "x\n", "Add a")


@pytest.mark.parametrize("checkout", [("--detach",), ("-b", "feature/x")])
def test_commits_that_are_not_on_its_branch_are_said_and_kept(story: Story, checkout: tuple[str, ...]) -> None:
    at_work(story)
    sha = wander(story, *checkout)
    report(story, "adam", "turn_end")
    tend(story)
    worker = story.worker("adam")
    where = "the branch feature/x" if "-b" in checkout else f"a detached HEAD ({sha[:12]})"
    assert worker.work is Work.NEEDS_INPUT
    assert worker.evidence.detail == f"its commits are on {where}, not on its branch llmc/adam"
    story.llmc("reset", "adam", "--yes")
    story.llmc("undo", "adam", "--yes")
    assert story.git("rev-parse", "HEAD", cwd=worker.worktree_path) == sha, "nothing is lost"


def test_a_silent_agent_has_its_grace_time_elsewhere_too(story: Story) -> None:
    at_work(story, reports_events=False)
    wander(story, "--detach")
    tend(story)
    worker = story.worker("adam")
    assert (worker.work, list(worker.timers)) == (Work.WORKING, ["elsewhere_grace"])
    story.rewrite("adam", timers={"elsewhere_grace": story.site.now() - 1})
    tend(story)
    assert story.worker("adam").work is Work.NEEDS_INPUT


def test_an_agent_that_comes_back_to_its_branch_was_never_elsewhere(story: Story) -> None:
    at_work(story, reports_events=True)
    sha = wander(story, "--detach")
    assert tend(story) == [], "its turn goes on"
    story.git("checkout", "--quiet", "-B", "llmc/adam", sha, cwd=story.worker("adam").worktree_path)
    report(story, "adam", "turn_end")
    tend(story)
    assert (story.worker("adam").work, story.worker("adam").commit_sha) == (Work.NEEDS_REVIEW, sha)


def in_conflict(story: Story) -> str:
    """A worker whose rebase has stopped, and whose agent has been asked. The commit that it had."""
    at_work(story, reports_events=True, turn=Turn.OVER)
    before = story.commit_as("adam", "README", "ours\n", "Ours")
    tip = story.commit_upstream("README", "theirs\n", "Theirs")
    story.fetch_upstream()
    tend(story)
    assert story.worker("adam").work is Work.NEEDS_REVIEW
    decide_and_run(story.site, "adam", ev.RebaseAsked(story.site.now(), tip))
    assert story.worker("adam").work is Work.REBASING
    return before


def resolve(story: Story) -> None:
    worktree = story.worker("adam").worktree_path
    Path(worktree, "README").write_text("theirs\nours\n")
    story.git("add", "--all", cwd=worktree)
    story.git("rebase", "--continue", cwd=worktree)


def test_a_rebase_that_goes_on_moves_nothing(story: Story) -> None:
    in_conflict(story)
    assert rebase_in_progress(story.site.git, story.worker("adam").worktree_path)
    assert tend(story) == []
    assert story.worker("adam").work is Work.REBASING


def test_a_resolved_conflict_comes_back_for_review(story: Story) -> None:
    before = in_conflict(story)
    resolve(story)
    tend(story)
    settle(story.site, "adam")
    worker = story.worker("adam")
    assert (worker.work, worker.conflicted_files) == (Work.NEEDS_REVIEW, ())
    assert worker.commit_sha != before
    assert worker.base_sha == story.git("rev-parse", "main")


def test_a_resolved_conflict_is_none_that_was_aborted_when_the_branch_went_on(story: Story) -> None:
    in_conflict(story)
    stands_on = story.git("rev-parse", "main")
    resolve(story)
    story.commit_upstream("other.txt", "other\n", "Meanwhile")
    story.fetch_upstream()
    tend(story)
    worker = story.worker("adam")
    assert worker.evidence.signal == "git.resolved"
    assert worker.base_sha == stands_on
    settle(story.site, "adam")
    assert story.worker("adam").work is Work.NEEDS_REVIEW


def test_an_aborted_rebase_is_told_from_a_resolved_one(story: Story) -> None:
    before = in_conflict(story)
    abort_rebase(story.site.git, story.worker("adam").worktree_path)
    tend(story)
    worker = story.worker("adam")
    assert (worker.work, worker.commit_sha) == (Work.NEEDS_REVIEW, before)
    assert worker.evidence.signal == "git.rebase_aborted"


def test_a_skipped_commit_is_not_resolved(story: Story) -> None:
    before = in_conflict(story)
    worktree = story.worker("adam").worktree_path
    story.git("rebase", "--skip", cwd=worktree)
    tend(story)
    worker = story.worker("adam")
    assert worker.work is Work.NEEDS_INPUT
    assert worker.evidence.detail == "nothing is left of its work: the rebase dropped it; `llmc undo adam` has it"
    story.llmc("undo", "adam", "--yes")
    assert story.git("rev-parse", "llmc/adam", cwd=story.root.path) == before


def test_one_skipped_commit_of_two_is_told(story: Story) -> None:
    at_work(story, reports_events=True, turn=Turn.OVER)
    story.commit_as("adam", "README", "ours\n", "Ours")
    story.commit_as("adam", "a.txt", "a\n", "Add a")
    tip = story.commit_upstream("README", "theirs\n", "Theirs")
    story.fetch_upstream()
    tend(story)
    decide_and_run(story.site, "adam", ev.RebaseAsked(story.site.now(), tip))
    story.git("rebase", "--skip", cwd=story.worker("adam").worktree_path)
    (decision,) = (
        decision for decision in work_news(story.site, story.site.worker("adam")) if decision.signal == "git.resolved"
    )
    assert [notice.text for notice in decision.notices] == [
        "adam: 1 of its commits was dropped in the rebase; `llmc undo adam` has all"
    ]
    settle(story.site, "adam")
    assert story.worker("adam").work is Work.NEEDS_REVIEW


def test_a_rebase_that_was_quit_is_none_that_was_aborted(story: Story) -> None:
    in_conflict(story)
    story.git("rebase", "--quit", cwd=story.worker("adam").worktree_path)
    tend(story)
    worker = story.worker("adam")
    assert worker.work is Work.NEEDS_INPUT
    assert "left half done: its worktree is not on its branch llmc/adam" in worker.evidence.detail


def test_getting_on_with_conflicts_is_seen_in_the_index(story: Story) -> None:
    in_conflict(story)
    assert story.worker("adam").conflicted_files == ("README",)
    worktree = story.worker("adam").worktree_path
    Path(worktree, "README").write_text("theirs\nours\n")
    story.git("add", "README", cwd=worktree)
    assert tend(story) == ["git.conflicts_changed"]
    assert story.worker("adam").conflicted_files == ()
    assert tend(story) == []


def test_markers_that_were_committed_are_no_resolution(story: Story) -> None:
    in_conflict(story)
    worktree = story.worker("adam").worktree_path
    story.git("add", "README", cwd=worktree)
    story.git("rebase", "--continue", cwd=worktree)
    tend(story)
    settle(story.site, "adam")
    worker = story.worker("adam")
    assert worker.work is Work.NEEDS_INPUT
    assert worker.evidence.detail == "its conflicts are resolved, but conflict markers are left in README"
    assert worker.commit_sha == story.git("rev-parse", "HEAD", cwd=worktree)


def test_the_end_of_the_turn_after_the_rebase_is_no_failure_to_resolve(story: Story) -> None:
    """The report is read after the rebase was last looked at: git is asked once more before anybody is told."""
    in_conflict(story)
    story.rewrite("adam", turn=Turn.OPEN)
    assert tend(story) == []
    resolve(story)
    report(story, "adam", "turn_end")
    decisions = [decision for decision in work_news(story.site, story.site.worker("adam")) if decision.changed]
    assert [decision.signal for decision in decisions] == ["hook.turn_end", "git.resolved"]
    assert [notice for decision in decisions for notice in decision.notices] == []
    settle(story.site, "adam")
    assert story.worker("adam").work is Work.NEEDS_REVIEW


def test_an_agent_that_ends_after_its_rebase_leaves_work_to_review(story: Story) -> None:
    in_conflict(story)
    story.rewrite("adam", turn=Turn.OPEN)
    resolve(story)
    tend(story)
    assert story.worker("adam").work is Work.REBASING
    story.rewrite("adam", session=Session.DOWN, turn=Turn.OVER)
    tend(story)
    settle(story.site, "adam")
    assert story.worker("adam").work is Work.NEEDS_REVIEW


# --- terminals --------------------------------------------------------------------------------------


@pytest.mark.lesson(21, "not knowing moves nobody")
def test_no_answer_of_tmux_moves_nobody(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    at_work(story)
    programs = story.place / "bin"
    programs.mkdir()
    (programs / "tmux").write_text("#!/bin/sh\necho 'lost server' >&2\nexit 1\n")
    (programs / "tmux").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    before = story.worker("adam")
    with pytest.raises(TmuxError):
        session_news(story.site, story.site.worker("adam"), pane_of_adam(story))
    assert story.worker("adam") == before


@pytest.mark.lesson(13, "the loss of a session never erases the work")
def test_a_session_that_is_gone_takes_no_work_with_it(story: Story) -> None:
    at_work(story)
    (decision,) = session_news(story.site, story.site.worker("adam"), pane_of_adam(story))
    assert decision.signal == "session.gone"
    worker = story.worker("adam")
    assert (worker.work, worker.session, worker.current_prompt) == (Work.WORKING, Session.DOWN, "do it")


def test_a_session_that_nobody_knew_of_is_taken_over(story: Story) -> None:
    story.begin("adam")
    story.up()
    os.kill(story.daemon(), 15)
    story.site.ledger.apply("adam", ev.SessionVanished(story.site.now()))
    assert session_news(story.site, story.site.worker("adam"), pane_of_adam(story)) == [], (
        "only who acts for the worker may say so"
    )
    tend(story)
    assert story.worker("adam").session is Session.UP


# --- agents that report nothing ---------------------------------------------------------------------


@pytest.mark.lesson(15, "reports that are missing or not trusted are noticed, and the deciding signal is shown")
def test_a_commit_of_a_silent_agent_counts_after_the_grace_time(story: Story) -> None:
    story.begin("adam", agent="silent", agents=SILENT, policy__commit_grace_secs="2").up()
    story.task("adam", "write a.txt x", "commit Add a", "sleep 1000")
    worker = story.wait("adam", Work.NEEDS_REVIEW)
    assert not worker.reports_events
    assert worker.evidence.signal == "timer"
    assert worker.commit_sha == story.git("rev-parse", "HEAD", cwd=worker.worktree_path)
