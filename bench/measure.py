"""Interleaved measuring: every alternative has its turn in every round, so that a busy machine is unfair to none."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

COLUMNS = ("", "median ms", "spread ms", "x floor")


@dataclass(frozen=True, slots=True)
class Spread:
    """Of several figures: the one in the middle, and how far the first quartile is from the third."""

    median: float
    between: float


def spread(figures: Sequence[float]) -> Spread:
    if len(figures) < 2:
        return Spread(figures[0], 0.0)
    first, middle, third = statistics.quantiles(figures, n=4)
    return Spread(middle, third - first)


@dataclass(frozen=True, slots=True)
class Timing:
    name: str
    median_ms: float
    spread_ms: float
    ratio: float

    @property
    def row(self) -> tuple[str, float, float, float]:
        return self.name, self.median_ms, self.spread_ms, self.ratio


def take_turns(actions: Mapping[str, Callable[[], object]], *, floor: str, rounds: int) -> list[Timing]:
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            seconds[name].append(timed(action))
    return against(seconds, floor=floor)


def timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def against(seconds: Mapping[str, Sequence[float]], *, floor: str) -> list[Timing]:
    lowest = statistics.median(seconds[floor])
    return [_timing(name, taken, lowest) for name, taken in seconds.items()]


def _timing(name: str, taken: Sequence[float], lowest: float) -> Timing:
    of_all = spread(taken)
    return Timing(name, of_all.median * 1000, of_all.between * 1000, of_all.median / lowest)


def program(*argv: str, env: Mapping[str, str] | None = None) -> Callable[[], object]:
    def run() -> None:
        subprocess.run(argv, env=env, check=True, stdout=subprocess.DEVNULL)

    return run
