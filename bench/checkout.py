"""Another checkout of LLMC, measured in the same run. `make bootstrap` has set it up."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.measure import spread, timed

HERE = Path(__file__).resolve().parent.parent
COLUMNS = ("", "its ms", "± its", "llmc ms", "± llmc", "llmc x it", "± x")


@dataclass(frozen=True, slots=True)
class Checkout:
    path: Path

    @property
    def name(self) -> str:
        """Its commit: where it lies says nothing on another machine."""
        asked = ["git", "-C", str(self.path), "rev-parse", "--short", "HEAD"]
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() or self.path.name

    @property
    def python(self) -> Path:
        return self.path / ".venv" / "bin" / "python"

    @property
    def program(self) -> Path:
        return self.python.with_name("llmc")


Actions = Mapping[str, Callable[[], object]]


def side_by_side(its: Actions, ours: Actions, rounds: int) -> list[tuple[str | float, ...]]:
    """A row for each pair of actions, which are timed one right after the other in every round."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ours}
    for _ in range(rounds):
        for name, pairs in taken.items():
            pairs.append((timed(its[name]), timed(ours[name])))
    return [compared(name, pairs) for name, pairs in taken.items()]


def compared(name: str, taken: list[tuple[float, float]]) -> tuple[str | float, ...]:
    first, second = (spread([each[n] * 1000 for each in taken]) for n in (0, 1))
    ratio = spread([ours / its for its, ours in taken])
    return name, first.median, first.between, second.median, second.between, ratio.median, ratio.between
