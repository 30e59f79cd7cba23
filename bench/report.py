"""What a measurement says: tables for people, the same as JSON for whoever compares, and on what it was measured."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """One figure that has a limit."""

    what: str
    measured: float
    limit: float
    unit: str
    why_over: str = ""
    """What is known of the reason where it is over."""

    @property
    def within(self) -> bool:
        return self.measured <= self.limit

    def __str__(self) -> str:
        word, why = ("within", "") if self.within else ("OVER", f". {self.why_over}" if self.why_over else "")
        return f"{self.what}: {self.measured:.2f} {self.unit}, {word} the limit of {self.limit:g} {self.unit}{why}"


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    columns: tuple[str, ...]
    """The first one names the rows."""
    rows: Sequence[tuple[Cell, ...]]
    verdicts: tuple[Verdict, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        cells = [self.columns, *(tuple(shown(cell) for cell in row) for row in self.rows)]
        widths = [max(len(row[n]) for row in cells) for n in range(len(self.columns))]
        lines = ["  ".join(_aligned(n, cell, widths[n]) for n, cell in enumerate(row)).rstrip() for row in cells]
        under = [self.note] if self.note else []
        return "\n".join([self.title, "-" * len(self.title), *lines, *under, *map(str, self.verdicts)])

    @classmethod
    def of_data(cls, data: dict[str, Any]) -> Self:
        """What `as_data` made."""
        verdicts = [{key: value for key, value in each.items() if key != "within"} for each in data["verdicts"]]
        rows = [tuple(row.values()) for row in data["rows"]]
        return cls(
            data["title"], tuple(data["rows"][0]), rows, tuple(Verdict(**each) for each in verdicts), data["note"]
        )

    def as_data(self) -> dict[str, object]:
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        verdicts = [{**asdict(verdict), "within": verdict.within} for verdict in self.verdicts]
        return {"title": self.title, "rows": rows, "verdicts": verdicts, "note": self.note}


def _aligned(column: int, cell: str, width: int) -> str:
    return cell.rjust(width) if column else cell.ljust(width)


def shown(cell: Cell) -> str:
    if cell is None:
        return "-"
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)


def machine() -> dict[str, str]:
    """What the figures were measured on. Times do not travel to another machine; ratios do, more or less."""
    return {
        "at": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "processor": f"{os.cpu_count()} x {_processor()}",
        "system": f"{platform.system()} {platform.release()}",
        "load before": load(),
        "python": platform.python_version(),
        "tmux": _said("tmux", "-V"),
        "git": _said("git", "--version"),
    }


def load() -> str:
    """How many programs wanted a processor, over one, five and fifteen minutes."""
    return " ".join(f"{average:.2f}" for average in os.getloadavg())


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _said(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
