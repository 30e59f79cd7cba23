"""What was counted: each answer once, with the most that was told of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.core.usage.answer import FilePlace, ModelAnswer, Tokens
from llmc.core.usage.budget import Allowance
from llmc.store.usage import Counted, UsageStore, UsageUnusableError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[UsageStore]:
    made = UsageStore(tmp_path / "usage.db")
    yield made
    made.close()


def counted(name: str, tokens: Tokens, *, task: str = "t1", model: str = "m", worker: str = "adam") -> Counted:
    return Counted(ModelAnswer(name, model, 1.0, tokens), task, worker, "demo", "2026-11-19")


def sums(store: UsageStore) -> dict[tuple[str, str], Tokens]:
    return {(row.task, row.worker): row.tokens for row in store.rows()}


def test_an_answer_counts_once_whoever_tells_of_it_again(store: UsageStore) -> None:
    assert store.count("adam", [counted("a", Tokens(1, 2, 3, 4, 5)), counted("b", Tokens(10))], {})
    assert not store.count("adam", [counted("a", Tokens(1, 2, 3, 4, 5), task="t2")], {})
    assert not store.count("eve", [counted("b", Tokens(10), worker="eve")], {})
    assert sums(store) == {("t1", "adam"): Tokens(11, 2, 3, 4, 5)}


def test_an_answer_that_was_told_before_its_end_counts_as_it_ended(store: UsageStore) -> None:
    store.count("adam", [counted("a", Tokens(100, 1))], {})
    assert store.count("adam", [counted("a", Tokens(100, 70))], {})
    assert not store.count("adam", [counted("a", Tokens(100, 1))], {})
    assert sums(store) == {("t1", "adam"): Tokens(100, 70)}


def test_nobody_adds_to_the_answers_of_another(store: UsageStore) -> None:
    """A copy is what a forked conversation begins with; what is more than that is made up."""
    store.count("adam", [counted("a", Tokens(100, 1))], {})
    assert not store.count("eve", [counted("a", Tokens(10**12, 10**12), task="t2", worker="eve")], {})
    assert sums(store) == {("t1", "adam"): Tokens(100, 1)}


def test_rows_tell_apart_what_prices_tell_apart(store: UsageStore) -> None:
    store.count(
        "adam", [counted("a", Tokens(5)), counted("b", Tokens(300_000)), counted("c", Tokens(5), model="n")], {}
    )
    assert sorted((row.model, row.step) for row in store.rows()) == [("m", 0), ("m", 272_000), ("n", 0)]
    assert store.rows(tasks=["t2"]) == []
    assert len(store.rows(since="2026-11-19", tasks=["t1"])) == 3
    assert store.rows(since="2026-11-20") == []


def test_how_far_a_file_was_read_is_kept_with_what_was_in_it(store: UsageStore) -> None:
    assert store.places("adam") == {}
    place = FilePlace(7, 100, 1, 90, "ab", '{"turn": 1}')
    store.count("adam", [], {"/x/\udcff": place, "/y": place})
    assert set(store.places("adam").values()) == {place}
    assert store.places("eve") == {}


def test_people_are_told_once_and_what_they_allow_is_kept(store: UsageStore) -> None:
    assert store.tell_once(["a", "b"]) == ["a", "b"]
    assert store.tell_once(["b", "c"]) == ["c"]
    assert store.allowance("t1") == Allowance()
    store.allow("t1", Allowance(10, 0.5))
    store.allow("t1", Allowance(20, 0.7))
    assert store.allowance("t1") == Allowance(20, 0.7)


def test_a_damaged_database_goes_aside_and_counting_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "usage.db"
    path.write_bytes(b"this is no database, and long enough to be looked at as one" * 100)
    store = UsageStore(path)
    with pytest.raises(UsageUnusableError, match="damaged"):
        store.count("adam", [counted("a", Tokens(1))], {})
    assert store.count("adam", [counted("a", Tokens(1))], {})
    assert list(tmp_path.glob("usage.db.corrupt-*"))
    store.close()


def test_nothing_is_known_where_nothing_was_counted(store: UsageStore) -> None:
    assert (store.rows(), store.path.exists()) == ([], False)


def test_names_that_no_database_takes_are_made_harmless(store: UsageStore) -> None:
    assert store.count("adam", [counted("\ud800", Tokens(1), model="\udfff")], {})
    (row,) = store.rows()
    assert row.model == "?"
