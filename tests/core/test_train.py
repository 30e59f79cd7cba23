"""What the merge train does next, without git and without checks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.core.landing.plan import AcceptFacts, plan_accept
from llmc.core.lifecycle.effects import RebaseWork, to_step
from llmc.core.tasks.checks import CheckResult, TreeVerdict
from llmc.core.tasks.train import (
    Blame,
    EntryState,
    NextMove,
    TrainEntry,
    blame_words,
    by_forecast,
    feedback_of,
    next_move,
    next_trial,
    to_check,
    why_out,
)
from llmc.model import Work, Worker

GOOD = TreeVerdict("tree", ())
FAILED = CheckResult("tree", "make test", False, "boom ```\n", 1.0, 0.0, "failed with exit code 2")
BAD = TreeVerdict("tree", (FAILED,))


def entry(worker: str, number: int, **fields: object) -> TrainEntry:
    return replace(TrainEntry(worker, f"t{number}", 0.0, id=number, position=number), **fields)


def order(*entries: TrainEntry, clashes: tuple[str, ...] = ()) -> list[str]:
    pairs = {frozenset(pair) for pair in clashes}
    return [each.worker for each in sorted(by_forecast(entries, pairs), key=lambda each: each.position)]


def test_works_with_fewer_conflicts_to_come_go_first() -> None:
    a, b, c = entry("a", 1), entry("b", 2), entry("c", 3)
    assert order(a, b, c) == ["a", "b", "c"]
    assert order(a, b, c, clashes=("ab", "ac")) == ["b", "c", "a"]
    assert order(a, b, c, clashes=("ax", "ay")) == ["a", "b", "c"], "who is not in the train does not count"


def test_a_place_that_a_person_gave_stays_and_so_does_what_is_checked() -> None:
    given_place, checked = entry("b", 2, ordered=True), entry("a", 1, state=EntryState.CHECKING)
    free = entry("c", 3), entry("d", 4)
    assert order(checked, given_place, *free, clashes=("ab", "cd", "ca")) == ["a", "b", "d", "c"]


@given(st.permutations(list(range(1, 7))), st.sets(st.frozensets(st.sampled_from("abcdef"), min_size=2, max_size=2)))
def test_no_order_loses_anybody(numbers: list[int], clashes: set[frozenset[str]]) -> None:
    entries = [entry(name, number) for name, number in zip("abcdef", numbers, strict=True)]
    placed = by_forecast(entries, clashes)
    assert {each.worker for each in placed} == set("abcdef")
    assert sorted(each.position for each in placed) == sorted(numbers)


@pytest.mark.parametrize(
    ("runs", "move"),
    [
        ((), NextMove.WAIT),
        ((GOOD,), NextMove.LAND),
        ((BAD,), NextMove.WAIT),
        ((BAD, GOOD), NextMove.LAND),
        ((BAD, BAD), NextMove.EXAMINE),
    ],
)
def test_what_fails_is_tried_once_more(runs: tuple[TreeVerdict, ...], move: NextMove) -> None:
    assert next_move(runs) is move


def test_trees_are_checked_ahead_in_their_order_as_far_as_there_are_lanes() -> None:
    trees = ["a", "b", "c", "d"]
    assert to_check(trees, {}, (), 2) == ["a", "b"]
    assert to_check(trees, {"a": [GOOD]}, ("b",), 2) == ["c"]
    assert to_check(trees, {"a": [BAD], "b": [BAD]}, ("c",), 2) == ["a"], "the first again, before anything ahead"
    assert to_check(trees, {"a": [BAD, BAD], "b": [BAD]}, (), 2) == ["c", "d"], "the second is not blamed yet"
    assert to_check(trees, {}, ("x", "y"), 2) == [], "what nobody wants any more still has its lane"
    assert to_check(["a", "a"], {}, (), 2) == ["a"]


def test_the_first_work_that_makes_it_fail_is_named() -> None:
    assert next_trial((), {}) == Blame(), "nothing was before it"
    assert next_trial(("a", "b"), {}) == ()
    assert next_trial(("a", "b"), {(): True}) == Blame()
    assert next_trial(("a", "b"), {(): False}) == ("a",)
    assert next_trial(("a", "b"), {(): False, ("a",): False}) == ("b",)
    assert next_trial(("a", "b"), {(): False, ("a",): False, ("b",): True}) == Blame(("b",))
    assert next_trial(("a", "b"), {(): False, ("a",): False, ("b",): False}) == Blame(("a", "b"))


def test_a_failure_is_told_in_words() -> None:
    assert blame_words(FAILED, Blame()) == "`make test` failed with exit code 2 on this work by itself"
    assert "together with that of adam, and passes without" in blame_words(FAILED, Blame(("adam",)))
    assert "together with all of adam, baker" in blame_words(FAILED, Blame(("adam", "baker")))
    assert "````\nboom ```\n````\n\nFind the cause" in feedback_of(FAILED, Blame())
    assert "(nothing)" in feedback_of(replace(FAILED, output=""), Blame())


def test_nothing_lands_unattended_without_checks_or_before_the_turn_is_over() -> None:
    facts = AcceptFacts(
        *("adam", Work.NEEDS_REVIEW, "/w", "llmc/adam", "llmc/adam", (), "main", "t" * 40, "h" * 40),
        commits=("h" * 40,),
        tree="r" * 40,
        changes=True,
    )
    assert plan_accept(facts).obstacle is None
    unattended = replace(facts, unattended=True, checks=("make",))
    assert plan_accept(unattended).obstacle is None
    obstacle = plan_accept(replace(unattended, checks=())).obstacle
    assert obstacle is not None
    assert "without checks" in obstacle.what
    busy = plan_accept(replace(unattended, turn_is_over=False)).obstacle
    assert busy is not None
    assert "in the middle of a turn" in busy.what


def test_an_entry_is_about_the_work_that_it_was_made_for() -> None:
    worker = Worker("a", "/w", "llmc/a", "s", "demo", 0.0, 0.0, Work.NEEDS_REVIEW, task="t1")
    assert why_out(entry("a", 1), worker) == ""
    assert why_out(entry("a", 1), None) == "a was removed"
    assert why_out(entry("a", 2), worker) == "a has another task by now"
    assert why_out(entry("a", 1), replace(worker, work=Work.REJECTED)) == "a is rejected by now"
    rebasing = replace(worker, work=Work.REBASING)
    assert why_out(entry("a", 1), rebasing) == "a is rebasing by now"
    assert why_out(entry("a", 1), replace(rebasing, pending=(to_step(RebaseWork("x"), "1"),))) == ""
