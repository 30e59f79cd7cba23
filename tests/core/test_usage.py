"""What tokens cost, what sums say, when a budget is spent. Pure."""

from __future__ import annotations

import pytest

from llmc.core.usage.answer import Tokens, count, reported_answer, without_cached
from llmc.core.usage.budget import (
    Allowance,
    first_spent,
    how_to_go_on,
    limits_of_day,
    limits_of_task,
    near_words,
    spent_words,
)
from llmc.core.usage.prices import Price, PriceBook, by_name, step_of
from llmc.core.usage.sums import Spent, UsageRow, spent, spent_by_task, usage_data, with_parents

LISTED = (
    Price(("plain",), 2.0, 10.0),
    Price(("cached",), 2.0, 10.0, cache_read=0.2, cache_write=2.5, cache_write_1h=4.0),
    Price(("cached",), 4.0, 20.0, above=200_000),
    Price(("dearer",), 1.0, 1.0),
    Price(("dearer",), 3.0, 3.0, since="2027-01-01"),
)
BOOK = PriceBook((by_name(LISTED),), "2026-11-19")
M = 1_000_000
TODAY = "2026-11-19"


def row(model: str, tokens: Tokens, *, task: str = "t1", step: int = 0) -> UsageRow:
    return UsageRow(task, "adam", "demo", model, TODAY, step, tokens)


@pytest.mark.parametrize(
    ("model", "tokens", "usd"),
    [
        ("plain", Tokens(M, M), 12.0),
        ("plain", Tokens(0, 0, M, M), 4.0),  # what has no price of its own costs what it costs to read
        ("cached", Tokens(0, 0, M, 0), 0.2),
        ("cached", Tokens(0, 0, 0, 3 * M, 2 * M), 2.5 + 8.0),
        ("vendor/cached-2026-08-01", Tokens(M), 2.0),
        ("cached-20260801", Tokens(M), 2.0),
        ("cached[1m]", Tokens(M), 2.0),
        ("cached-mini", Tokens(M), None),
        ("", Tokens(M), None),
    ],
)
@pytest.mark.lesson(
    57, "each answer counts once, caches in buckets of their own, sub-agents too; unknown stays unknown"
)
def test_each_kind_of_token_has_its_own_price_and_an_unknown_model_has_none(
    model: str, tokens: Tokens, usd: float | None
) -> None:
    assert BOOK.cost(model, TODAY, 0, tokens) == pytest.approx(usd)


def test_prices_change_with_the_day_and_with_the_length_of_the_prompt() -> None:
    assert [BOOK.cost("dearer", day, 0, Tokens(M)) for day in (TODAY, "2027-01-01")] == [1.0, 3.0]
    assert [step_of(each) for each in (0, 100_000, 100_001, 200_001, 10**9)] == [0, 0, 100_000, 200_000, 272_000]
    assert [BOOK.cost("cached", TODAY, step, Tokens(M)) for step in (0, 100_000, 200_000, 272_000)] == [2, 2, 4, 4]


def test_a_persons_own_prices_come_first() -> None:
    book = PriceBook((by_name([Price(("plain",), 0.0, 0.0)]), by_name(LISTED)), TODAY)
    assert (book.cost("plain", TODAY, 0, Tokens(M)), book.cost("cached", TODAY, 0, Tokens(M))) == (0.0, 2.0)


def test_a_sum_says_what_of_it_has_no_price() -> None:
    known, unknown = row("plain", Tokens(M)), row("strange", Tokens(5, 5))
    told = [(each.usd, each.priced, each.tokens.all) for each in (spent(r, BOOK) for r in ([known], [unknown]))]
    assert told == [(2.0, "api", M), (None, "unknown", 10)]
    assert (spent([known, unknown], BOOK).usd, spent([known, unknown], BOOK).priced) == (2.0, "partly")
    assert (spent([], BOOK).usd, spent([], BOOK).priced) == (None, "unknown")


def test_rows_are_summed_up_as_asked() -> None:
    rows = [row("plain", Tokens(M), task=task) for task in ("t10", "t2", "", "t2")]
    data = usage_data(rows, BOOK, "task")
    assert [(each["task"], each["input_tokens"], each["model"]) for each in data["rows"]] == [
        (None, M, None),
        ("t2", 2 * M, None),
        ("t10", M, None),
    ]
    assert data["total"]["usd"] == 8.0
    (single,) = usage_data([row("plain", Tokens(1))] * 2, BOOK, None)["rows"]
    assert [single[name] for name in ("task", "worker", "agent", "model", "day", "input_tokens")] == [
        *("t1", "adam", "demo", "plain", TODAY),
        2,
    ]


def test_what_tasks_have_cost_is_charged_to_what_they_were_made_for() -> None:
    parents = {"t2": "t1", "t3": "t2", "t4": "t1", "t9": "t8", "t5": "t6", "t6": "t5"}
    assert with_parents("t3", parents) == ("t3", "t2", "t1")
    assert with_parents("t5", parents) == ("t5", "t6")  # a circle ends
    assert with_parents("", parents) == ()
    rows = [row("plain", Tokens(each), task=f"t{each}" if each else "") for each in (0, 2, 3, 4, 5, 9)]
    sums = spent_by_task(rows, BOOK, parents)
    told = {task: sum_.tokens.input for task, sum_ in sums.items()}
    assert told == {"t1": 9, "t2": 5, "t3": 3, "t4": 4, "t5": 5, "t6": 5, "t9": 9, "t8": 9}


def test_a_budget_is_near_at_four_fifths_and_spent_at_its_limit() -> None:
    def limit(tokens: int, allowed: int = 0) -> tuple[bool, bool]:
        (found,) = limits_of_task("t1", Spent(Tokens(tokens)), Allowance(allowed), None, 1000)
        return found.is_near, found.is_spent

    assert [limit(each) for each in (799, 800, 999, 1000, 5000)] == [
        (False, False),
        *[(True, False)] * 2,
        *[(True, True)] * 2,
    ]
    assert limit(5000, allowed=4500) == (False, False)


def test_the_day_comes_before_the_task_because_no_release_helps_against_it() -> None:
    task = limits_of_task("t1", Spent(Tokens(), 6.0), Allowance(), 5.0, None)
    day = limits_of_day(TODAY, Spent(Tokens(), 61.5), 60.0)
    assert first_spent(task) == task[0]
    found = first_spent((*task, *day))
    assert found is not None
    assert spent_words(found) == "the budget of the day is spent: $61.50 of $60.00"
    assert "midnight" in how_to_go_on(found)
    assert "`llmc task release t1`" in how_to_go_on(task[0])
    assert near_words(task[0]).startswith("the budget of t1 is nearly spent: $6.00 of $5.00")


def test_a_budget_that_was_raised_or_released_is_another_one() -> None:
    spent_ = Spent(Tokens(900))
    keys = {
        limits_of_task("t1", spent_, Allowance(allowed), None, tokens)[0].key
        for allowed, tokens in ((0, 1000), (0, 2000), (900, 1000))
    }
    assert len(keys) == 3


@pytest.mark.parametrize("strange", [None, True, -1, -1.0, 1.5, 1e300, float("nan"), "7", 10**13, [1]])
def test_what_is_no_number_of_tokens_counts_nothing(strange: object) -> None:
    assert count(strange) == 0
    assert without_cached(5, strange) == 5
    assert count(7.0) == 7


def test_a_report_needs_a_name_and_some_tokens() -> None:
    told = reported_answer({"id": "a", "model": "m", "input_tokens": 3, "cache_write_tokens": 4})
    assert told is not None
    assert told.tokens == Tokens(3, 0, 0, 4)
    for strange in ({"input_tokens": 3}, {"id": "", "input_tokens": 3}, {"id": "a"}, {"id": 7, "input_tokens": 3}):
        assert reported_answer(strange) is None
