"""The page of versions: what it says of results that are there, that failed, and that are missing."""

from __future__ import annotations

from pathlib import Path

from testing.drift.cells import CELLS
from testing.drift.table import Result, keep_result, known_results, table_of

VERSIONS = ["3.0", "2.0", "1.0"]


def results(path: Path, *failed: tuple[str, str, str], missing: str = "") -> dict[tuple[str, str, str], Result]:
    reasons = {(version, cell): why for version, cell, why in failed}
    for version in VERSIONS:
        for cell in CELLS:
            if version != missing:
                why = reasons.get((version, cell), "")
                keep_result(Result("claude", version, cell, why, "2026-11-16", "0.1.0"), path)
    return known_results(path)


def rows(table: str) -> dict[str, list[str]]:
    split = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:1] == "|"]
    return {row[0]: row[1:] for row in split}


def test_a_failure_has_its_reason_once(tmp_path: Path) -> None:
    known = results(tmp_path / "r.json", ("2.0", "start", "no prompt"), ("1.0", "start", "no prompt"))
    table = table_of("claude", VERSIONS, known)
    assert rows(table)["2.0"][0] == rows(table)["1.0"][0] == "no (1)"
    assert table.count("no prompt") == 1


def test_what_works_since_a_version_works_in_every_newer_one(tmp_path: Path) -> None:
    known = results(tmp_path / "r.json", ("2.0", "task", "it hangs"))
    since = dict(zip(CELLS, rows(table_of("claude", VERSIONS, known))["works since"], strict=False))
    assert since["start"] == "1.0"
    assert since["task"] == "3.0"


def test_what_was_not_measured_is_not_said_to_work(tmp_path: Path) -> None:
    table = rows(table_of("claude", VERSIONS, results(tmp_path / "r.json", missing="3.0")))
    assert set(table["3.0"][: len(CELLS)]) == {"not measured"}
    assert table["works since"][0] == "-"


def test_a_cell_that_is_measured_again_takes_the_place_of_the_older_one(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    results(path, ("3.0", "start", "no prompt"))
    keep_result(Result("claude", "3.0", "start", "", "2026-11-17", "0.1.0"), path)
    row = rows(table_of("claude", VERSIONS, known_results(path)))["3.0"]
    assert row[0] == "yes"
    assert row[-1] == "2026-11-17, LLMC 0.1.0"
