"""The plan of an accept: which steps, in which order, and what ends it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llmc.core.landing.plan import (
    AcceptFacts,
    BackToIdle,
    BringUpToDate,
    CleanWorktree,
    InReview,
    LandingPlace,
    MakeCommit,
    MoveBranch,
    Obstacle,
    PutOnTop,
    Validate,
    plan_accept,
)
from llmc.model import Work

FINE = AcceptFacts(
    worker="adam",
    work=Work.NEEDS_REVIEW,
    worktree="/r/.worktrees/adam",
    worker_branch="llmc/adam",
    checked_out="llmc/adam",
    dirty=(),
    branch="main",
    tip="t" * 40,
    head="h" * 40,
    up_to_date=False,
    commits=("c1", "h" * 40),
    messages=("Add a\n\nCo-Authored-By: Claude <noreply@anthropic.com>\n", "Mend a\n"),
    author="Tess Ter <tess@example.com>",
    tree="e" * 40,
    changes=True,
    task="the task",
    checks=("make test",),
    check_secs=60.0,
    place=LandingPlace("/src", kept=("mine.txt",)),
    others=("baker",),
)


def test_all_the_steps() -> None:
    assert plan_accept(FINE).steps == (
        InReview("h" * 40),
        CleanWorktree("/r/.worktrees/adam"),
        PutOnTop("t" * 40, "main", needed=True),
        MakeCommit("e" * 40, "t" * 40, 2, "Tess Ter <tess@example.com>", "Add a\n\n- Mend a\n", signed=False),
        Validate(("make test",), 60.0),
        MoveBranch("main", "t" * 40, "/src", ("mine.txt",)),
        BackToIdle("adam"),
        BringUpToDate(("baker",)),
    )
    assert plan_accept(FINE).obstacle is None


def test_what_passed_on_the_very_tree_is_told_and_not_run_again() -> None:
    plans = [plan_accept(replace(FINE, checked=checked)) for checked in (None, False, True)]
    words = [step.words for plan in plans for step in plan.steps if isinstance(step, Validate)]
    assert (
        words[0] == words[1] == "run `make test` on just this tree, in a worktree of LLMC's own, each for at most 60 s"
    )
    assert words[2] == "not needed: `make test` passed on just this tree"


OBSTACLES = [
    (replace(FINE, work=Work.IDLE), 0, "adam is idle"),
    (replace(FINE, head=None), 0, "the branch llmc/adam is gone"),
    (replace(FINE, checked_out=None), 1, "on no branch at all"),
    (replace(FINE, dirty=("x", "y")), 1, "uncommitted changes in x, y"),
    (replace(FINE, tree=None, conflicts=("README",)), 2, "conflicts with main in README"),
    (replace(FINE, commits=()), 3, "nothing that main does not have"),
    (replace(FINE, changes=False), 3, "nothing that main does not have"),
    (
        replace(FINE, place=LandingPlace(refusal=Obstacle("in the middle of a merge", "x"))),
        5,
        "in the middle of a merge",
    ),
    (replace(FINE, place=LandingPlace("/src", in_the_way=("README",))), 5, "would overwrite: README"),
]


@pytest.mark.parametrize(("facts", "steps", "what"), OBSTACLES, ids=[what for _, _, what in OBSTACLES])
def test_the_first_obstacle_ends_the_plan(facts: AcceptFacts, steps: int, what: str) -> None:
    plan = plan_accept(facts)
    assert plan.obstacle is not None
    assert what in plan.obstacle.what
    assert plan.obstacle.hint
    assert len(plan.steps) == steps


def test_every_step_has_words() -> None:
    plans = [plan_accept(FINE), plan_accept(replace(FINE, up_to_date=True, checks=(), place=LandingPlace(), others=()))]
    for step in (step for plan in plans for step in plan.steps):
        assert step.verb
        assert step.words


def test_a_message_of_ones_own_is_cleaned_too() -> None:
    plan = plan_accept(replace(FINE, message="Mine\n\nCo-Authored-By: Codex <noreply@openai.com>"))
    assert [step.message for step in plan.steps if isinstance(step, MakeCommit)] == ["Mine\n"]
