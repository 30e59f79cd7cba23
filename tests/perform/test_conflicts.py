"""What an agent is asked about its conflicts, asked again, and whether what it made of them is sound."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.core.delivery.texts import check_text
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import AskToResolve, CheckResolution, to_step
from llmc.model import Session, Turn, Work
from llmc.perform.conflicts import asked_to_resolve, check_resolution
from llmc.perform.steps import decide_and_run, settle
from testing.story import Story, told_in

STEP = to_step(AskToResolve(), "adam-99")


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    with told_in(tmp_path) as story:
        yield story.begin("adam")


def in_conflict(story: Story, **settings: str) -> str:
    """A worker whose rebase has stopped, and whose agent does not run. Its worktree."""
    for key, value in settings.items():
        story.llmc("config", "set", key.replace("__", "."), value)
    sha = story.commit_as("adam", "README", "of the worker\n", "Ours")
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha, current_prompt="Change the readme", turn=Turn.OVER)
    story.commit_upstream("other.txt", "x\n", "Unrelated")
    tip = story.commit_upstream("README", "of the branch\n", "Theirs")
    story.fetch_upstream()
    decide_and_run(story.site, "adam", ev.RebaseAsked(story.site.now(), tip))
    assert story.worker("adam").work is Work.REBASING
    return story.worker("adam").worktree_path


def request(story: Story) -> str:
    return asked_to_resolve(story.site, story.worker("adam"), STEP).text


@pytest.mark.lesson(31, "a conflict is handed over with the task, the files and numbered steps")
def test_the_request_says_what_the_branch_did_meanwhile_and_why_that_conflicts(story: Story) -> None:
    in_conflict(story)
    text = request(story)
    assert "> Change the readme" in text
    assert 'Your commit "Ours" could not be applied:\nmeanwhile main got these' in text
    assert re.search(r"^- [0-9a-f]+ Theirs$", text, re.MULTILINE)
    assert "Unrelated" not in text
    assert "- README: content (1 place)" in text
    assert check_text(text) is None


def test_the_stages_that_the_request_names_are_whose_it_says(story: Story) -> None:
    """In a rebase they are the other way round than in a merge: read from the blobs themselves."""
    worktree = in_conflict(story)
    theirs, mine = re.search(  # type: ignore[union-attr] - it is there
        r"`git show (:\d:)FILE` is the version of main, `git show (:\d:)FILE` is yours", request(story)
    ).groups()
    (base,) = re.findall(r"`git show (:\d:)FILE` is what both began with", request(story))
    assert story.git("show", f"{theirs}README", cwd=worktree) == "of the branch"
    assert story.git("show", f"{mine}README", cwd=worktree) == "of the worker"
    assert story.git("show", f"{base}README", cwd=worktree) == story.git("show", "main~2:README")


def test_a_request_that_never_arrived_is_sent_again_when_a_person_says_so(story: Story) -> None:
    in_conflict(story)
    assert "asks again" in story.events("adam", "notice")[-1].detail
    refused = story.llmc("rebase", "adam", code=1)
    assert "is not running" in refused.err
    story.up()
    assert story.wait("adam", session=Session.UP).work is Work.REBASING
    assert story.prompts("adam") == 0
    said = story.llmc("rebase", "adam")
    assert said.out == "adam: conflicts in README; the agent was asked to resolve them\n"
    story.until(lambda: story.prompts("adam") == 1)
    assert story.wait("adam", Work.NEEDS_REVIEW).resolution_attempts == 0
    assert story.git("show", "llmc/adam:README", cwd=story.root.path) == "of the branch\nof the worker"


def test_a_person_may_write_to_an_agent_in_a_rebase_but_gives_it_no_task(story: Story) -> None:
    in_conflict(story)
    story.up()
    story.wait("adam", session=Session.UP)
    story.llmc("message", "adam", "demo:say hello")
    story.until(lambda: story.prompts("adam") == 1)
    assert story.wait("adam").work is Work.REBASING
    assert "needs a worker that is idle" in story.llmc("start", "--worker", "adam", "--prompt", "x", code=1).err
    assert "needs a worker that is needs_review" in story.llmc("review", "adam", code=1).err


def test_an_agent_that_comes_back_is_asked_again_where_that_is_allowed(story: Story) -> None:
    in_conflict(story, policy__autonomy="auto")
    story.up()
    story.wait("adam", Work.NEEDS_REVIEW)
    assert story.prompts("adam") == 1


def test_help_comes_when_its_time_is_over(story: Story) -> None:
    """The agent has the request and does nothing: with the policy `auto` it is helped, and then the person called."""
    in_conflict(story, policy__autonomy="auto", policy__rebase_help_after_secs="1", policy__conflict_attempts="2")
    worker = story.worker("adam")
    assert sorted(worker.timers) == ["rebase_escalate", "rebase_help"]
    story.rewrite("adam", session=Session.UP, resolution_attempts=1)
    site = story.site
    decision = site.ledger.apply("adam", ev.Woke(site.worker("adam").timers["rebase_help"], "rebase_help"))
    assert [step.name for step in decision.worker.pending] == ["AskToResolve"]
    helped = asked_to_resolve(site, decision.worker, decision.worker.pending[0], with_help=True)
    assert helped.text.startswith("Your rebase onto main is not over yet")
    assert "Conflict markers are still in README" in helped.text
    settle(site, "adam")
    assert story.worker("adam").resolution_attempts == 2
    decision = site.ledger.apply("adam", ev.Woke(site.worker("adam").timers["rebase_escalate"], "rebase_escalate"))
    assert [notice.kind for notice in decision.notices] == ["conflict"]
    assert decision.worker.evidence.detail.startswith("it stands in conflicts in README")


def check(story: Story) -> ev.ResolutionChecked:
    return check_resolution(story.site, story.worker("adam"), to_step(CheckResolution(), "adam-99"))


def resolve(story: Story, worktree: str, content: str) -> None:
    Path(worktree, "README").write_text(content)
    story.git("add", "README", cwd=worktree)
    story.git("rebase", "--continue", cwd=worktree)


def test_the_checks_of_the_repository_decide(story: Story) -> None:
    worktree = in_conflict(story, repo__validate='["grep -q joined README || { echo not joined; exit 1; }"]')
    resolve(story, worktree, "both\n")
    checked = check(story)
    assert checked.problem.endswith("failed with exit code 1")
    assert "not joined" in checked.text
    assert "> Change the readme" in checked.text
    Path(worktree, "README").write_text("joined\n")
    story.git("commit", "--quiet", "--all", "--amend", "--no-edit", cwd=worktree)
    assert check(story).problem == ""


def test_a_file_about_markers_may_have_them(story: Story) -> None:
    marks = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> 1234567 (x)\n"
    story.commit_as("adam", "howto.md", marks, "Explain conflicts")
    worktree = in_conflict(story)
    resolve(story, worktree, "both\n")
    assert check(story).problem == ""
    Path(worktree, "README").write_text(marks)
    story.git("commit", "--quiet", "--all", "--amend", "--no-edit", cwd=worktree)
    assert check(story).problem == "conflict markers are left in README"


def test_a_bad_resolution_is_mended_where_that_is_allowed(story: Story) -> None:
    # What the check complains of is what the scripted agent reads in its request, and does.
    check = "test -e mended.txt || { echo demo:write mended.txt x; echo demo:commit Mend; exit 1; }"
    story.llmc("config", "set", "policy.autonomy", "auto")
    story.llmc("config", "set", "repo.validate", json.dumps([check]))
    story.up()
    story.work("adam", "write README ours", "commit Ours")
    story.commit_upstream("README", "theirs\n", "Theirs")
    story.until(lambda: story.events("adam", "git.resolution"))
    worker = story.wait("adam", Work.NEEDS_REVIEW)
    checked = ["rebasing", "needs_review"]  # the log is written after the state
    story.until(lambda: [event.work_after for event in story.events("adam", "git.resolution")] == checked)
    assert story.git("log", "--format=%s", "origin/main..llmc/adam", cwd=story.root.path).splitlines() == [
        "Mend",
        "Ours",
    ]
    assert worker.commit_sha == story.git("rev-parse", "llmc/adam", cwd=story.root.path)


def test_an_agent_that_gave_up_often_enough_is_not_asked_unasked(story: Story) -> None:
    in_conflict(story, policy__conflict_attempts="1")
    story.git("rebase", "--abort", cwd=story.worker("adam").worktree_path)
    story.up()
    story.wait("adam", Work.NEEDS_REVIEW, Session.UP)
    story.commit_upstream("again.txt", "x\n", "The branch goes on")
    fetched = story.git("rev-parse", "main")
    story.until(lambda: story.git("rev-parse", "origin/main", cwd=story.root.path) == fetched)
    story.llmc("add", "baker", "--agent", "demo")
    story.wait("baker", Work.IDLE, Session.UP)
    assert story.prompts("adam") == 0
    assert story.worker("adam").work is Work.NEEDS_REVIEW
