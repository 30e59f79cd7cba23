"""`docs/performance.md`, as the measurement left it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.report import Table, shown

HEAD = """\
# Performance

Written by `make bench`; do not edit it. All rows of a table were measured in one run and in turns, so that a busy
machine is unfair to none of them: LLMC, the floor under it (plain Python, tmux or git) and other programs that do a
part of the same work. Times differ from machine to machine; ratios differ less. A figure is the median; ± (or
"spread") is the distance between the first and the third quartile. The other programs are installed from their
registries at the versions of `bench/peers.json`, run in a directory and a home of their own and only on this machine,
and start no real agent: what they cost once agents run is not on this page.

`make bench BENCH_ARGS="delivery --json FILE"` measures one part and keeps the figures, `--onto FILE` takes the other
parts from an earlier run, `--beside DIR` compares with another checkout of LLMC in which `make bootstrap` was run,
and `make peers` only installs the other programs. Rows and columns named 020f786 are LLMC before the safety work and
the rework of its packages.
"""


def page(measured_on: Mapping[str, str], found: Mapping[str, Sequence[Table]]) -> str:
    machine = ["## Measured on", *_grid(("what", ""), list(measured_on.items()))]
    verdicts = [verdict for tables in found.values() for table in tables for verdict in table.verdicts]
    over = [f"- {verdict}" for verdict in verdicts if not verdict.within]
    limits = f"{len(verdicts)} figures have a limit; {len(verdicts) - len(over)} are within it."
    summary = ["## Limits", limits + (" Over it:" if over else ""), *over]
    tables = [_section(table) for tables in found.values() for table in tables]
    return "\n\n".join([HEAD.strip(), _joined(machine), _joined(summary), *tables]) + "\n"


def _section(table: Table) -> str:
    rows = [tuple(shown(cell) for cell in row) for row in table.rows]
    return _joined([f"## {table.title}", *_grid(table.columns, rows), *([table.note] if table.note else [])])


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    ruler = ["---", *("---:" for _ in columns[1:])]
    return ["\n".join(f"| {' | '.join(cells)} |" for cells in (columns, ruler, *rows))]


def _joined(parts: Sequence[str]) -> str:
    """Paragraphs apart, the lines of a list together."""
    text = ""
    for part in parts:
        gap = "\n" if part.startswith("- ") and text.rpartition("\n")[2].startswith("- ") else "\n\n"
        text += (gap if text else "") + part
    return text
