"""Who may have changed what: two looks at the same places."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llmc.core.tripwire import Trespass, TripwireLook, WatchedPlace, trespass_words, trespasses

BEFORE = WatchedPlace(frozenset(("main\t1",)), "1", at_rest=True)
AFTER = replace(BEFORE, content=frozenset(("main\t2", "README\t M 5")))


def judged(before: WatchedPlace, after: WatchedPlace, at_work: str = "adam") -> list[Trespass]:
    names = frozenset(at_work.split())
    return trespasses(TripwireLook({"": before}, names), TripwireLook({"": after}, frozenset()))


def test_a_change_while_only_agents_act_is_told() -> None:
    assert judged(BEFORE, AFTER) == [Trespass("", ("README", "main"), ("adam",))]


@pytest.mark.parametrize(
    ("after", "at_work"),
    [
        (BEFORE, "adam"),
        (AFTER, ""),
        (replace(AFTER, acted="2"), "adam"),
        (replace(AFTER, is_persons=True), "adam"),
        (replace(AFTER, at_rest=False), "adam"),
    ],
    ids=["no change", "no agent at work", "LLMC acted", "a person may have", "its own agent works"],
)
def test_what_somebody_else_may_have_done_is_not(after: WatchedPlace, at_work: str) -> None:
    assert judged(BEFORE, after, at_work) == []


def test_an_agent_that_is_seen_there_is_named_whoever_else_is() -> None:
    (found,) = judged(BEFORE, replace(AFTER, is_persons=True, intruders=frozenset(("baker",))), "adam baker")
    assert found.suspects == ("baker",)


def test_a_worker_is_no_suspect_in_its_own_worktree() -> None:
    look = TripwireLook({"adam": BEFORE}, frozenset(("adam",)))
    assert trespasses(look, TripwireLook({"adam": AFTER}, frozenset(("adam",)))) == []


def test_the_words_name_a_few_files_and_who_worked() -> None:
    words = trespass_words(Trespass("", ("a", "b", "c", "d", "e"), ("adam", "baker")), "your checkout", "look")
    assert words.startswith("a, b, c and 2 more changed in your checkout while one of adam, baker worked;")
