"""Comments and rounds as values: what is sent to the agent, what is shown, and which round counts as sent."""

from __future__ import annotations

import pytest

from llmc.core.delivery.texts import check_text
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.table import decide
from llmc.core.prompts.comments import round_feedback
from llmc.core.prompts.task import feedback_prompt
from llmc.core.tasks.rounds import (
    LONGEST_QUOTED,
    MOST_QUOTED,
    Became,
    Comment,
    Fate,
    Round,
    brief,
    last_round,
    quoted_lines,
    told,
)
from llmc.model import Outcome, Proof, Session, Turn, Work, Worker

COMMENT = Comment(2, "src/app.py", 5, 6, ("a()", "b()"), "c" * 40, "d" * 40, "Why twice?", 1.0, 1)
STAYS = Fate(Became.UNTOUCHED, "src/app.py", 5, 6, COMMENT.quoted)
MOVED = Fate(Became.UNTOUCHED, "src/main.py", 7, 8, COMMENT.quoted)
CHANGED = Fate(Became.CHANGED, "src/app.py", 5, 5, ("c()",))
GONE = Fate(Became.GONE, "src/app.py")


@pytest.mark.lesson(52, "comments go as one batch with the quoted lines, numbered by round, and none is lost")
def test_a_round_is_one_text_with_every_comment_and_its_lines():
    other = Comment(3, "b c:d.txt", 1, 1, ("x ``` y",), "c" * 40, "d" * 40, "And this?\nReally.", 1.0)
    feedback = round_feedback("Nearly there.", [COMMENT, other], {2: MOVED, 3: GONE})
    assert feedback == (
        "Nearly there.\n\n"
        "Comment 2, on src/main.py:7-8:\n```\na()\nb()\n```\nWhy twice?\n\n"
        "Comment 3, on b c:d.txt:1 as it was in commit cccccccccccc:\n````\nx ``` y\n````\nAnd this?\nReally."
    )
    text = feedback_prompt(feedback, "+x", 2)
    assert text.startswith("Your work was reviewed and is sent back: round 2 of review. The feedback:\n\nNearly there.")
    check_text(text)


def test_a_round_needs_no_message():
    assert round_feedback("", [COMMENT], {2: STAYS}).startswith("Comment 2, on src/app.py:5-6:\n")


def test_quoted_lines_can_be_sent_whatever_is_in_the_file():
    assert quoted_lines(["a\r", "\x1b[31mred", "\ttab"]) == ("a", "\ufffd[31mred", "\ttab")
    many = quoted_lines(["x" * 1000] * (MOST_QUOTED + 2))
    assert many[-1] == "... and 2 more lines"
    assert {len(line) for line in many[:-1]} == {LONGEST_QUOTED}
    check_text("\n".join(quoted_lines([chr(code) for code in range(0x20)] + ["x"])))


def test_a_comment_in_one_line_says_what_became_of_it():
    assert brief(COMMENT) == "2. src/app.py:5-6: Why twice?"
    assert brief(COMMENT, STAYS) == "2. src/app.py:5-6 (untouched): Why twice?"
    assert brief(COMMENT, MOVED) == "2. src/app.py:5-6 (untouched, now src/main.py:7-8): Why twice?"
    assert brief(COMMENT, GONE) == "2. src/app.py:5-6 (gone): Why twice?"


@pytest.mark.lesson(52, "comments go as one batch with the quoted lines, numbered by round, and none is lost")
@pytest.mark.parametrize(
    ("fate", "lines"),
    [
        (STAYS, ["      a()", "      b()"]),
        (CHANGED, ["    - a()", "    - b()", "    + c()"]),
        (GONE, ["    - a()", "    - b()"]),
    ],
)
def test_a_comment_is_shown_beside_what_became_of_its_lines(fate, lines):
    shown = [line for _, line in told(COMMENT, fate)]
    assert shown[0].startswith(f"comment 2, round 1, src/app.py:5-6 ({fate.became}")
    assert shown[1:] == ["  Why twice?", *lines]


# --- which round was sent ---------------------------------------------------------------------------------


def waiting(**fields):
    given = {"session": Session.UP, "turn": Turn.OVER, "commit_sha": "c" * 40, "current_prompt": "x", "task": "t1"}
    return Worker("adam", "/w", "llmc/adam", "llmc-adam", "demo", 1.0, 1.0, Work.NEEDS_REVIEW, **(given | fields))


def sent_back(worker, number):
    return decide(worker, ev.WorkRejected(2.0, "text", "", Round(number, "", "c", "d", 2.0)), Policy()).worker


def came_of_it(worker, outcome, **fields):
    step = worker.pending[0].id
    return decide(worker, ev.TextSent(3.0, step, outcome, Proof.NONE, "why", **fields), Policy()).worker


def test_a_round_on_its_way_counts():
    worker = sent_back(waiting(), 1)
    assert (worker.round, last_round(worker)) == (0, 1)


@pytest.mark.parametrize("outcome", [Outcome.DELIVERED, Outcome.QUEUED, Outcome.UNKNOWN])
def test_a_round_that_may_have_arrived_is_never_taken_for_unsent(outcome):
    worker = came_of_it(sent_back(waiting(round=1), 2), outcome)
    assert (worker.round, last_round(worker)) == (2, 2)


@pytest.mark.parametrize("refused", [True, False])
def test_a_round_that_did_not_arrive_is_taken_back(refused):
    worker = came_of_it(sent_back(waiting(round=1), 2), Outcome.UNDELIVERED, refused=refused)
    assert (worker.round, last_round(worker)) == (1, 1)


def test_a_step_that_failed_before_it_began_takes_the_round_back():
    worker = sent_back(waiting(), 1)
    worker = decide(worker, ev.StepFailed(3.0, worker.pending[0].id, "no tmux"), Policy()).worker
    assert (worker.work, last_round(worker)) == (Work.NEEDS_REVIEW, 0)


def test_the_next_task_begins_with_the_first_round():
    worker = decide(waiting(round=3), ev.ResetAsked(2.0), Policy()).worker
    worker = decide(worker, ev.WorktreeReset(3.0, worker.pending[0].id, "e" * 40), Policy()).worker
    assert (worker.work, worker.round) == (Work.IDLE, 0)
