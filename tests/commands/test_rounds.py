"""Rounds of review on the demo agent: comments go together, once, and what did not arrive stays open."""

from __future__ import annotations

from typing import Any

import pytest

from llmc.core.lifecycle import events as ev
from llmc.core.tasks.rounds import Round
from llmc.model import Session, Work
from llmc.store.comments import CommentStore
from testing.story import Story, script

LINES = "\\n".join(f"step_{number}()" for number in range(1, 11))


@pytest.fixture
def reviewed(story: Story) -> Story:
    """Work of `adam`, reviewed, and a daemon."""
    story.begin("adam", policy__input_wait_secs="1").up()
    story.work("adam", f"write app.py {LINES}", "commit Add app")
    story.llmc("review", "adam", "--interface", "stat")
    return story


def comments(story: Story) -> list[tuple[int, int | None]]:
    """Number and round of each."""
    listed = story.json("comment", "adam", "--list")["comments"]
    return [(each["number"], each["round"]) for each in listed]


def history(story: Story, kind: str) -> list[dict[str, Any]]:
    task = story.worker("adam").task
    return [dict(event.data) for event in story.site.ledger.tasks.history(task) if event.kind == kind]


@pytest.mark.lesson(52, "comments go as one batch with the quoted lines, numbered by round, and none is lost")
def test_a_round_is_one_prompt_with_all_comments(reviewed: Story) -> None:
    story = reviewed
    first = story.worker("adam").commit_sha
    story.llmc("comment", "adam", "app.py:2", "Name it better")
    story.llmc("comment", "adam", "app.py:4-5", "Join these\n" + script("replace app.py step_4() => joined()", "amend"))
    receipt = story.json("reject")
    assert (receipt["outcome"], receipt["proof"], receipt["round"]) == ("delivered", "hook", 1)
    again = story.wait("adam", Work.NEEDS_REVIEW)
    assert (again.round, again.commit_sha != first) == (1, True)
    assert story.prompts("adam") == 2, "the task and one round"
    assert (
        "Comment 1, on app.py:2:\n```\nstep_2()\n```\nName it better\n\nComment 2, on app.py:4-5:\n" in again.feedback
    )
    assert comments(story) == [(1, 1), (2, 1)]
    (sent,), (_, told) = history(story, "round"), history(story, "receipt")
    assert [each["text"].splitlines()[0] for each in sent["comments"]] == ["Name it better", "Join these"]
    assert [each["round"] for each in sent["comments"]] == [1, 1]
    assert (told["round"], told["outcome"]) == (1, "delivered")
    story.commit_upstream("hand.txt", "h\n", "By hand")
    answer = story.json("review", "adam", "--since-last")
    assert [each["now"]["became"] for each in answer["comments"]] == ["untouched", "changed"]
    assert [each["path"] for each in answer["files"]] == ["app.py"]
    assert answer["rounds"][0]["outcome"] == "delivered"
    assert answer["task"] == again.task


def test_the_next_round_has_the_next_number_and_only_what_is_new(reviewed: Story) -> None:
    story = reviewed
    story.llmc("comment", "adam", "app.py:2", "One\n" + script("append app.py more()", "amend"))
    story.llmc("reject", "adam", "Do it")
    story.wait("adam", Work.NEEDS_REVIEW)
    story.llmc("review", "adam", "--interface", "stat")
    story.llmc("comment", "adam", "app.py:11", "Two\n" + script("append app.py end()", "amend"))
    assert "round 2 (" in story.llmc("reject", "adam", "Again").out
    feedback = story.wait("adam", Work.NEEDS_REVIEW).feedback
    assert feedback.startswith("Again\n\nComment 2, on app.py:11:\n```\nmore()\n```\nTwo")
    assert comments(story) == [(1, 1), (2, 2)]
    assert story.llmc("comment", "adam", "--list").out.startswith("round 1: Do it\n  1. app.py:2: One")
    task = story.worker("adam").task
    assert "round adam: round 1: 1 comment; Do it\n" in story.llmc("task", "show", task).out
    assert "\nround 1: Do it\n\nround 2: Again\n" in story.llmc("review", "adam", "--since-last").out
    story.llmc("review", "adam", "--interface", "stat")
    story.llmc("comment", "adam", "app.py:1", "Never mind")
    story.llmc("accept", "adam")
    assert comments(story) == []
    told = {"started", "given", "receipt", "round", "landed", "comments"}
    kinds = [event.kind for event in story.site.ledger.tasks.history(task) if event.kind in told]
    assert kinds == ["started", "given", "receipt", "round", "receipt", "round", "receipt", "landed", "comments"]


def test_the_agent_is_told_where_the_lines_are_now(reviewed: Story) -> None:
    story = reviewed
    story.llmc("comment", "adam", "README:2", "And this?\n" + script("append app.py more()", "amend"))
    story.commit_upstream("README", "zero\none\ntwo\nthree\n", "One line more")
    story.llmc("rebase", "adam")
    story.llmc("reject", "adam")
    assert "Comment 1, on README:3:\n```\ntwo\n```\nAnd this?" in story.wait("adam", Work.NEEDS_REVIEW).feedback


@pytest.mark.lesson(52, "comments go as one batch with the quoted lines, numbered by round, and none is lost")
def test_a_round_that_does_not_arrive_is_taken_back(reviewed: Story) -> None:
    story = reviewed
    story.llmc("comment", "adam", "app.py:2", "Better\n" + script("append app.py more()", "amend"))
    story.site.tmux.type_text(story.pane("adam").id, "half a draft of a person")
    story.until(lambda: "half a draft" in story.screen("adam"))
    receipt = story.json("reject", "adam", code=1)
    assert (receipt["outcome"], receipt["round"]) == ("undelivered", None)
    assert comments(story) == [(1, None)]
    assert story.worker("adam").round == 0
    assert "open: 1. app.py:2: Better" in story.llmc("review", "adam", "--interface", "stat").out
    story.press("adam", "C-u")
    story.until(lambda: "half a draft" not in story.screen("adam"))
    assert story.json("reject", "adam")["round"] == 1
    story.wait("adam", Work.NEEDS_REVIEW)
    assert comments(story) == [(1, 1)]
    assert story.prompts("adam") == 2
    receipts = [(each["round"], each["outcome"]) for each in history(story, "receipt")]
    assert receipts == [(None, "delivered"), (1, "undelivered"), (1, "delivered")]


def test_what_is_refused_leaves_no_round(reviewed: Story) -> None:
    story = reviewed
    story.llmc("comment", "adam", "app.py:2", "Better")
    story.llmc("down", "--force")
    assert "adam is not running" in story.llmc("reject", "adam", code=1).err
    assert comments(story) == [(1, None)]
    assert history(story, "round") == []
    story.up()
    story.llmc("comment", "adam", "--remove", "1")
    assert "there is no text" in story.llmc("reject", "adam", code=2).err


def _killed(story: Story, *, decided: bool) -> None:
    """What is left of a `reject` that was killed before or after its decision was kept."""
    site = story.site
    worker, text = site.worker("adam"), script("append app.py more()", "amend")
    sent = Round(1, "", worker.commit_sha or "", worker.base_sha or "", site.now(), (1,))
    if decided:
        site.ledger.apply("adam", ev.WorkRejected(site.now(), text, text, sent))
    else:
        CommentStore(site.ledger.tasks).begin_round(worker, sent)


def test_a_round_whose_sender_died_before_the_decision_was_never_sent(reviewed: Story) -> None:
    story = reviewed
    story.llmc("comment", "adam", "app.py:2", "Better\n" + script("append app.py more()", "amend"))
    _killed(story, decided=False)
    assert comments(story) == [(1, None)]
    assert story.json("comment", "adam", "--list")["rounds"] == []
    assert story.json("reject", "adam")["round"] == 1
    story.wait("adam", Work.NEEDS_REVIEW)
    assert story.prompts("adam") == 2


@pytest.mark.lesson(52, "comments go as one batch with the quoted lines, numbered by round, and none is lost")
def test_a_round_whose_sender_died_after_the_decision_is_sent_once(reviewed: Story) -> None:
    story = reviewed
    story.llmc("comment", "adam", "app.py:2", "Better")
    _killed(story, decided=True)
    assert comments(story) == [(1, 1)]
    assert "was sent in round 1" in story.llmc("comment", "adam", "--remove", "1", code=1).err
    story.until(lambda: story.worker("adam").round == 1)
    story.wait("adam", Work.NEEDS_REVIEW)
    assert story.prompts("adam") == 2
    (sent,) = story.json("comment", "adam", "--list")["rounds"]
    assert (sent["number"], sent["comments"]) == (1, [1])


def test_comments_are_not_typed_into_a_shell(story: Story) -> None:
    story.begin("adam", agent="shell").up()
    story.wait("adam", session=Session.UP)
    sha = story.commit_as("adam", "a.txt", "a\n", "Add a")
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha)
    story.llmc("comment", "adam", "a.txt:1", "rm -r everything")
    assert "adam is no agent that reads comments" in story.llmc("reject", "adam", code=1).err
    assert comments(story) == [(1, None)]
