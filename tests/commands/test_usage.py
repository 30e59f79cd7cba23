"""`llmc usage`: what was spent, as tables, JSON and CSV; and clear words for whatever is wrong."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llmc.model import Work
from testing.roots import own_environment
from testing.story import Story, told_in


@pytest.fixture(scope="module")
def spent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """Two workers that have spent something: on a task, on none, with models that have a price and that have none."""
    place = tmp_path_factory.mktemp("spent")
    with own_environment(place / "home"), told_in(place) as story:
        story.begin("adam", "baker").up()
        story.task("adam", "spend 1000000 100000 2000000 gpt-5", "write a.txt 1", "commit A")
        story.task("baker", "spend 10 20 30 40 strange-model", "write b.txt 1", "commit B")
        for name in ("adam", "baker"):
            story.wait(name, Work.NEEDS_REVIEW)
        story.llmc("accept", "adam")
        story.wait("adam", Work.IDLE)
        story.llmc("message", "adam", "demo:spend 1000000 0 gpt-5")
        story.until(lambda: len(story.json("usage")["rows"]) == 3)
        yield story


ADAM = {"input_tokens": 1_000_000, "output_tokens": 100_000, "cache_read_tokens": 2_000_000, "cache_write_tokens": 0}


def test_without_by_there_is_a_row_for_all_that_differs(spent: Story) -> None:
    data = spent.json("usage")
    rows = {(each["task"], each["worker"], each["agent"], each["model"]): each for each in data["rows"]}
    assert set(rows) == {
        (None, "adam", "demo", "gpt-5"),
        ("t1", "adam", "demo", "gpt-5"),
        ("t2", "baker", "demo", "strange-model"),
    }
    first = rows["t1", "adam", "demo", "gpt-5"]
    assert {name: first[name] for name in ADAM} == ADAM
    assert (first["usd"], first["priced"]) == (1.25 + 1.0 + 0.25, "api")
    other = rows["t2", "baker", "demo", "strange-model"]
    assert (other["usd"], other["priced"]) == (None, "unknown")
    assert (data["total"]["usd"], data["total"]["priced"]) == (3.75, "partly")
    assert data["total"]["input_tokens"] == 2_000_010


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("task", [None, "t1", "t2"]),
        ("worker", ["adam", "baker"]),
        ("agent", ["demo"]),
        ("model", ["gpt-5", "strange-model"]),
    ],
)
def test_sums_by_one_thing(spent: Story, by: str, names: list[str | None]) -> None:
    rows = spent.json("usage", "--by", by)["rows"]
    assert [each[by] for each in rows] == names
    assert all(each[other] is None for each in rows for other in {"task", "worker", "agent", "model", "day"} - {by})
    assert sum(each["input_tokens"] for each in rows) == 2_000_010


def test_the_table_says_what_the_dollars_are(spent: Story) -> None:
    lines = spent.llmc("usage").out.splitlines()
    assert lines[0].split() == ["task", "input", "output", "cache", "read", "cache", "write", "dollars"]
    assert lines[2].split() == ["t1", "1,000,000", "100,000", "2,000,000", "0", "2.50"]
    assert lines[3].split() == ["t2", "10", "20", "30", "40", "?"]
    assert lines[4].split() == ["total", "2,000,010", "100,020", "2,000,030", "40", "3.75+?"]
    assert "at API prices of 20" in lines[5]
    assert "no price is known of strange-model" in lines[6]


def test_csv_has_the_rows_of_the_json(spent: Story) -> None:
    rows = list(csv.DictReader(io.StringIO(spent.llmc("usage", "--csv").out)))
    known = spent.json("usage")["rows"]
    assert [row["model"] for row in rows] == [each["model"] for each in known]
    assert [row["usd"] for row in rows] == ["" if each["usd"] is None else str(each["usd"]) for each in known]


def test_days_bound_what_counts(spent: Story) -> None:
    everything = spent.json("usage")["total"]
    for since in ("today", "yesterday", "7d", "2020-01-01"):
        assert spent.json("usage", "--since", since)["total"] == everything
    nothing = spent.json("usage", "--since", "2999-01-01")
    assert (nothing["rows"], nothing["total"]["usd"], nothing["total"]["priced"]) == ([], None, "unknown")
    assert spent.llmc("usage", "--since", "2999-01-01").out == "nothing is counted yet\n"


def test_prices_of_ones_own_come_first_and_unknown_models_get_some(spent: Story) -> None:
    own = Path(spent.root.prices)
    own.write_text('[[price]]\nmodels = ["strange-model", "gpt-5"]\ninput = 100000\noutput = 0\ncache_read = 0\n')
    try:
        total = spent.json("usage")["total"]
        shown = {each["name"]: each["usage"]["usd"] for each in spent.json("status")["workers"]}
    finally:
        own.unlink()
    assert (total["usd"], total["priced"]) == ((2_000_010 + 40) * 0.1, "api")
    assert shown == {"adam": 200_000.0, "baker": 5.0}
    assert spent.json("usage")["total"]["usd"] == 3.75
    assert spent.json("status")["workers"][0]["usage"]["usd"] == 3.75


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--by", "colour"), "--by: invalid choice"),
        (("--since", "yesteryear"), "--since: it must be a day such as"),
        (("--since", "2026-02-30"), "--since: it must be a day such as"),
        (("--since", "0d"), "--since: it must be a day such as"),
        (("--since", "99999d"), "--since: it must be a day such as"),
        (("--json", "--csv"), "two forms of the same"),
        (("more",), "unrecognized arguments"),
    ],
)
def test_bad_words_are_refused(spent: Story, words: tuple[str, ...], complaint: str) -> None:
    refused = spent.llmc("usage", *words, code=2)
    assert complaint in refused.err, refused.err
    assert "hint: " in refused.err


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("price = 7", "price must be a list of tables"),
        ('[[price]]\nmodels = ["a"]\ninput = -1\noutput = 1', "price[0].input must be a number of dollars"),
        ('[[price]]\nmodels = ["a"]\ninput = 1', "price[0].output is missing"),
        ('[[price]]\nmodels = ["a"]\ninput = 1\noutput = 1\nabove = 5', "price[0].above must be one of"),
        ("[[price", "it is not valid TOML"),
    ],
)
def test_prices_that_make_no_sense_are_told(spent: Story, text: str, complaint: str) -> None:
    own = Path(spent.root.prices)
    own.write_text(text)
    try:
        refused = [spent.llmc(*words, code=1) for words in (("usage",), ("config", "check"))]
        shown = spent.json("task", "show", "t1")["usage"]
    finally:
        own.unlink()
    assert all(complaint in each.err for each in refused), refused
    assert shown["usd"] == 2.5  # budgets are kept, by the prices that LLMC brings along


@pytest.mark.parametrize("key", ["task_usd", "task_tokens", "day_usd"])
@pytest.mark.parametrize("value", ["0", "0.0", "-5", "nan", "inf", "1e30", "much"])
def test_a_budget_of_nothing_is_refused_and_changes_nothing(spent: Story, key: str, value: str) -> None:
    before = Path(spent.root.config_file).read_text()
    refused = spent.try_llmc("config", "set", f"budget.{key}", value)
    assert refused.code in (1, 2), refused
    assert "must be a" in refused.err, refused
    assert Path(spent.root.config_file).read_text() == before


def test_it_can_be_read_where_nothing_can_be_written(spent: Story) -> None:
    database = Path(spent.root.usage)
    before = database.read_bytes()
    os.chmod(database.parent, 0o500)
    try:
        assert spent.json("usage")["total"]["input_tokens"] == 2_000_010
    finally:
        os.chmod(database.parent, 0o700)
    assert database.read_bytes()[:100] == before[:100]


STRANGE: list[dict[str, Any]] = [
    {"input_tokens": 5},
    {"id": 7, "input_tokens": 5},
    {"id": "negative", "input_tokens": -5},
    {"id": "huge", "input_tokens": 10**30},
    {"id": "half", "input_tokens": 2.5},
    {"id": "text", "input_tokens": "5"},
    {"id": "several", "input_tokens": [5]},
]


def test_reports_that_make_no_sense_count_nothing_and_names_are_harmless(tmp_path: Path) -> None:
    with own_environment(tmp_path / "home"), told_in(tmp_path) as story:
        story.begin("adam")
        reported = [*STRANGE, {"id": "\ud800" * 5000, "model": '\x1b]0;owned\x07\nx,"y', "input_tokens": 3.0}]
        for number, fields in enumerate(reported):
            spool = Path(story.root.spool("adam"))
            spool.mkdir(parents=True, exist_ok=True)
            (spool / f"{number}.json").write_text(json.dumps({"event": "usage", **fields}))
        story.llmc("reset", "adam", "--yes")
        (row,) = story.json("usage")["rows"]
        assert (row["input_tokens"], row["priced"]) == (3, "unknown")
        for words in ((), ("--by", "model"), ("--csv",)):
            said = story.llmc("usage", *words).out
            assert not {"\x1b", "\x07"} & set(said), said
        (single,) = csv.DictReader(io.StringIO(story.llmc("usage", "--csv").out))
        assert single["input_tokens"] == "3"


def test_status_knows_what_was_spent_without_any_database(spent: Story) -> None:
    document = json.loads(spent.llmc("status", "--json").out)
    usage = {each["name"]: each["usage"] for each in document["workers"]}
    assert (usage["adam"]["input_tokens"], usage["adam"]["usd"], usage["adam"]["task"]) == (2_000_000, 3.75, None)
    assert usage["baker"]["task"]["cache_write_tokens"] == 40
    assert usage["baker"]["priced"] == "unknown"
