"""Every measurement runs, with as few rounds as it takes, and says something of sense."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

from bench import (
    classification,
    delivery,
    fence,
    hops,
    landing,
    machines,
    observing,
    queue,
    repository,
    size,
    start_up,
    state_updates,
    train,
    ui,
    watching,
    web,
)
from bench.__main__ import COMPARED, MEASUREMENTS, main
from bench.checkout import HERE, Checkout
from bench.page import page
from bench.report import Table, Verdict

TINY = {
    "start_up": lambda: start_up.measure(rounds=1),
    "hops": hops.measure,
    "state_updates": lambda: state_updates.measure(workers=(2,), rounds=2),
    "queue": lambda: queue.measure(tasks=100, rounds=1),
    "landing": lambda: landing.measure(rounds={100: 1}),
    "size": size.measure,
    "train": lambda: train.measure(works=2, check_secs=0.1, files=100, rounds=1),
    "repository": lambda: repository.measure(files=100, rounds=1),
    "classification": lambda: classification.measure(rounds=1),
    "delivery": lambda: delivery.measure({"1 KiB": 1}),
    "fence": lambda: fence.measure(rounds=1, deliveries=1),
    "observing": lambda: observing.measure((2,), observing.Pace(0.1, 1, 1.0, turns=1, tries=1)),
    "watching": lambda: watching.measure(count=2, secs=0.2, settled_secs=0.1),
    "ui": lambda: ui.measure(workers=3, tries=1, secs=0.5),
    "web": lambda: web.measure(workers=5, spinning=2, tries=1, secs=0.5),
    "fleet": lambda: machines.measure(machines.Care(rounds=1, numbers=(1,), rest_secs=0.2, settles_secs=0.1)),
}


def test_every_measurement_is_tried() -> None:
    assert TINY.keys() == {*MEASUREMENTS}


@pytest.mark.parametrize("name", TINY)
def test_a_measurement_gives_tables_of_sane_figures(name: str) -> None:
    tables = TINY[name]()
    assert tables
    for table in tables:
        assert table.rows, table.title
        assert {len(row) for row in table.rows} == {len(table.columns)}
        figures = [cell for row in table.rows for cell in row if isinstance(cell, int | float)]
        assert figures, table.title
        assert all(math.isfinite(figure) and figure >= 0 for figure in figures), str(table)
        assert any(figure > 0 for figure in figures), str(table)


MOST_COMMANDS_OF_GIT = {"llmc add": 5, "llmc rebase": 10, "llmc accept": 26, "llmc reset": 10, "llmc nuke": 11}
"""Each question is another process: facts are gathered once and handed on."""
A_LOOK_MORE = 2
"""What git was busy with, and what happened in the same second, is asked about once more."""


@pytest.mark.timeout(600)  # a hundred commands of two checkouts, maybe on a busy machine
def test_two_checkouts_are_measured_side_by_side_and_run_git_no_more_than_they_have_to() -> None:
    alone, beside = landing.measure(Checkout(HERE), rounds={100: 1})
    ran = {str(row[0]): int(row[-1] or 0) for row in alone.rows}
    both = {str(row[0]): [int(count or 0) for count in row[-2:]] for row in beside.rows}
    assert both.keys() == ran.keys()
    assert [name for name, counts in both.items() if max(counts) - min(counts) > A_LOOK_MORE] == []
    assert {name: count for name, count in ran.items() if count > MOST_COMMANDS_OF_GIT[name] + A_LOOK_MORE} == {}


def test_the_page_has_every_table_with_the_machine_and_what_is_over_a_limit() -> None:
    slow = Verdict("a delivery", 3.0, 1.5, "x tmux")
    table = Table("Delivery", ("", "ms"), [("1 KiB", 2.0), ("1 MiB", None)], (slow,), "Ten rounds.")
    text = page({"load before": "0.10 0.20 0.30"}, {"delivery": [table]})
    assert "| load before | 0.10 0.20 0.30 |" in text
    assert "- a delivery: 3.00 x tmux, OVER the limit of 1.5 x tmux" in text
    assert "## Delivery\n\n|  | ms |\n| --- | ---: |\n| 1 KiB | 2.00 |\n| 1 MiB | - |\n\nTen rounds.\n" in text


def test_the_figures_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMPARED, "state_updates", lambda _: TINY["state_updates"]())
    words = ["state_updates", "--json", str(tmp_path / "kept" / "all.json"), "--markdown", str(tmp_path / "page.md")]
    monkeypatch.setattr(sys, "argv", ["bench", *words])
    main()
    kept = json.loads((tmp_path / "kept" / "all.json").read_text())
    assert kept["machine"]["load after"]
    assert kept["measurements"]["state_updates"][0]["rows"]
    assert "# Performance" in (tmp_path / "page.md").read_text()


def test_one_part_is_measured_anew_and_the_rest_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "all.json"
    old = Table("Delivery", ("", "ms"), [("1 KiB", 2.0)], (Verdict("a delivery", 3.0, 1.5, "x tmux", "Why"),), "Note.")
    kept.write_text(json.dumps({"machine": {"at": "then"}, "measurements": {"delivery": [old.as_data()]}}))
    monkeypatch.setattr(sys, "argv", ["bench", "size", "--onto", str(kept), "--json", str(kept)])
    main()
    found = json.loads(kept.read_text())
    assert found["machine"]["at"] == "then"
    assert found["measurements"]["size"][0]["title"] == "Size"
    assert found["measurements"]["delivery"] == [json.loads(json.dumps(old.as_data()))]
