"""Decisions are carried out one step after the other, and whoever comes next goes on where somebody died."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import pytest

from llmc.core.lifecycle import events as ev
from llmc.core.prompts.task import task_prompt
from llmc.errors import IllegalEventError
from llmc.host.files import disk_error
from llmc.model import Outcome, Proof, Session, State, Turn, Work
from llmc.perform.steps import decide_and_run, settle
from llmc.store.state_file import Change, StateFile
from testing.story import Story, script

BROKEN = """
[agents.missing]
command = ["no-such-agent-cli"]
[agents.brief]
command = ["sh", "-c", "echo cannot find my settings; sleep 0.2; exit 4"]
[agents.wordless]
command = ["sh", "-c", "kill -SEGV $$"]
"""


def online(story: Story) -> Story:
    """A worker whose agent is up, and no daemon."""
    story.begin("adam")
    decide_and_run(story.site, "adam", ev.StartAsked(story.site.now()))
    assert story.worker("adam").session is Session.UP
    return story


def give_task_and_die(story: Story, *steps: str) -> None:
    """What `llmc start` leaves when it is killed right after the decision."""
    worker, task = story.worker("adam"), script(*steps)
    text = task_prompt(task, worker.worktree_path, worker.branch, ())
    story.site.ledger.apply("adam", ev.TaskGiven(story.site.now(), task, text))
    assert [step.name for step in story.worker("adam").pending] == ["ResetWorktree", "ClearConversation", "Deliver"]


# --- going on ---------------------------------------------------------------------------------------


@pytest.mark.lesson(38, "an intention is saved before its effect, and an effect can be repeated")
def test_steps_that_somebody_left_are_carried_out_once(story: Story) -> None:
    online(story)
    give_task_and_die(story, "write a.txt x", "commit Add a")
    settled = settle(story.site, "adam")
    assert [(r.outcome, r.proof) for r in settled.receipts] == [(Outcome.DELIVERED, Proof.HOOK)]
    assert settled.worker is not None
    assert settled.worker.pending == ()
    assert settle(story.site, "adam").decisions == []
    story.look_until("adam", lambda: story.worker("adam").work is Work.NEEDS_REVIEW)
    assert story.prompts("adam") == 1


class FillingDisk(StateFile):
    """Takes so many changes of the state, and no more."""

    room = 1

    def transact(self, change: Change) -> State:
        if self.room == 0:
            raise disk_error(self.path, OSError(errno.ENOSPC, "no space left on device"))
        self.room -= 1
        return super().transact(change)


def test_a_task_that_is_in_the_record_is_not_said_to_be_refused(story: Story) -> None:
    """The disk is full from then on; it is carried out as soon as there is room."""
    site = online(story).site
    full = replace(site, ledger=replace(site.ledger, state=FillingDisk(story.root.path)))
    task = script("nothing")
    settled = decide_and_run(full, "adam", ev.TaskGiven(site.now(), task, task))
    assert [receipt.outcome for receipt in settled.receipts] == [Outcome.UNKNOWN]
    assert "no space left on device; it is in the record" in settled.receipts[0].reason
    assert settled.refusal is None
    assert settle(site, "adam").receipts[-1].outcome is Outcome.DELIVERED


def test_what_is_asked_next_comes_after_what_was_left(story: Story) -> None:
    online(story)
    give_task_and_die(story, "write a.txt x", "hang")
    settled = decide_and_run(story.site, "adam", ev.MessageGiven(story.site.now(), script("commit Add a")))
    assert [receipt.outcome for receipt in settled.receipts] == [Outcome.QUEUED]
    story.look_until("adam", lambda: story.prompts("adam") == 1)
    assert story.worker("adam").current_prompt == script("write a.txt x", "hang")


def test_a_reset_takes_the_place_of_what_was_left(story: Story) -> None:
    online(story)
    give_task_and_die(story, "write a.txt x", "commit Add a")
    settled = decide_and_run(story.site, "adam", ev.ResetAsked(story.site.now()))
    assert settled.receipts == []
    worker = story.worker("adam")
    assert (worker.work, worker.current_prompt, worker.pending) == (Work.IDLE, "", ())
    assert story.prompts("adam") == 0


def test_a_session_that_was_being_started_is_not_started_twice(story: Story) -> None:
    online(story)
    pid = story.pane("adam").pid
    story.site.ledger.apply("adam", ev.SessionVanished(story.site.now()))
    story.site.ledger.apply("adam", ev.StartAsked(story.site.now()))
    settle(story.site, "adam")
    assert story.worker("adam").session is Session.UP
    assert story.pane("adam").pid == pid


# --- refusals ---------------------------------------------------------------------------------------


def test_what_cannot_be_asked_now_changes_nothing(story: Story) -> None:
    story.begin("adam")
    before = story.worker("adam")
    with pytest.raises(IllegalEventError, match="needs a worker that is needs_review"):
        decide_and_run(story.site, "adam", ev.AcceptAsked(story.site.now(), None))
    assert story.worker("adam") == before


def test_a_step_that_fails_tells_why_and_puts_the_work_back(story: Story) -> None:
    story.begin("adam")
    sha = story.commit_as("adam", "a.txt", "x\n", "Add a")
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha, turn=Turn.OVER)
    Path(story.worker("adam").worktree_path, "half.txt").write_text("half\n")
    tip = story.commit_upstream("b.txt", "b\n", "By hand")
    settled = decide_and_run(story.site, "adam", ev.RebaseAsked(story.site.now(), tip))
    assert settled.refusal is not None
    assert "uncommitted changes in half.txt" in settled.refusal.what
    worker = story.worker("adam")
    assert (worker.work, worker.commit_sha, worker.pending) == (Work.NEEDS_REVIEW, sha, ())


def test_a_removed_worker_is_gone(story: Story) -> None:
    online(story)
    settled = decide_and_run(story.site, "adam", ev.RemovalAsked(story.site.now()))
    assert settled.worker is None
    assert dict(story.site.ledger.load().workers) == {}
    assert story.site.tmux.panes() == {}


# --- agents that do not start -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("missing", ["no-such-agent-cli is not installed", "install it, or choose another agent for adam"]),
        ("brief", ["it ended at once (exit code 4)", "cannot find my settings"]),
        ("wordless", ["it ended at once (signal 11)"]),
    ],
)
def test_an_agent_that_does_not_start_tells_why(story: Story, agent: str, words: list[str]) -> None:
    story.begin("adam", agent=agent, agents=BROKEN)
    decide_and_run(story.site, "adam", ev.StartAsked(story.site.now()))
    worker = story.worker("adam")
    assert (worker.work, worker.session, worker.status) == (Work.ERROR, Session.CRASHED, "error")
    for word in words:
        assert word in worker.evidence.detail
    assert story.site.tmux.panes() == {}
    assert words[0] in story.llmc("explain", "adam").out


def test_it_goes_on_when_the_cause_is_mended(story: Story) -> None:
    story.begin("adam", agent="brief", agents=BROKEN)
    decide_and_run(story.site, "adam", ev.StartAsked(story.site.now()))
    settings = Path(story.root.config_file)
    settings.write_text(settings.read_text().replace('agent = "brief"', 'agent = "demo"'))
    story.rewrite("adam", agent="demo")
    decide_and_run(story.site, "adam", ev.StartAsked(story.site.now()))
    worker = story.worker("adam")
    assert (worker.work, worker.session) == (Work.IDLE, Session.UP)


def test_a_worktree_that_is_gone_is_made_again_by_a_start(story: Story) -> None:
    story.begin("adam")
    story.site.host.remove_tree(story.worker("adam").worktree_path)
    decide_and_run(story.site, "adam", ev.StartAsked(story.site.now()))
    assert story.worker("adam").session is Session.UP
    assert story.site.host.is_dir(story.worker("adam").worktree_path)
