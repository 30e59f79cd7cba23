"""What was measured of each version, kept in results.json, and the page that tells it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from testing.drift.cells import CELLS
from testing.drift.install import matrix

RESULTS = Path(__file__).with_name("results.json")
TITLES = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI", "opencode": "opencode"}


@dataclass(frozen=True, slots=True)
class Result:
    cli: str
    version: str
    cell: str
    why_not: str
    """Empty when it works."""
    on: str
    """The day."""
    llmc: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.cli, self.version, self.cell


Results = dict[tuple[str, str, str], Result]


def known_results(path: Path = RESULTS) -> Results:
    if not path.exists():
        return {}
    rows = [Result(**row) for row in json.loads(path.read_text("utf-8"))]
    return {row.key: row for row in rows}


def keep_result(result: Result, path: Path = RESULTS) -> None:
    """Takes the place of what was known of this cell."""
    results = known_results(path) | {result.key: result}
    rows = [asdict(results[key]) for key in sorted(results)]
    path.write_text("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n", "utf-8")


def matrix_page() -> str:
    """The generated part of docs/drift.md."""
    results = known_results()
    return "\n\n".join(table_of(cli, versions, results) for cli, versions in matrix().items())


def table_of(cli: str, versions: list[str], results: Results) -> str:
    reasons: list[str] = []
    lines = [f"## {TITLES[cli]}", "", _row(["version", *CELLS, "measured"]), _row(["---"] * (len(CELLS) + 2))]
    for version in versions:
        row = [results.get((cli, version, cell)) for cell in CELLS]
        lines.append(_row([version, *(_told(each, reasons) for each in row), _measured(row)]))
    lines.append(_row(["works since", *(_since(cli, versions, cell, results) for cell in CELLS), ""]))
    lines += ["", *(f"{number}. {reason}" for number, reason in enumerate(reasons, 1))]
    return "\n".join(lines).rstrip()


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _told(result: Result | None, reasons: list[str]) -> str:
    if result is None:
        return "not measured"
    if not result.why_not:
        return "yes"
    if result.why_not not in reasons:
        reasons.append(result.why_not)
    return f"no ({reasons.index(result.why_not) + 1})"


def _measured(row: list[Result | None]) -> str:
    last = max((result for result in row if result), key=lambda result: result.on, default=None)
    return f"{last.on}, LLMC {last.llmc}" if last else ""


def _since(cli: str, versions: list[str], cell: str, results: Results) -> str:
    """The oldest version from which on every newer one works, too."""
    oldest = "-"
    for version in versions:
        result = results.get((cli, version, cell))
        if result is None or result.why_not:
            break
        oldest = version
    return oldest
