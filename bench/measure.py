"""Interleaved measuring: every alternative has its turn in every round, so that a busy machine is unfair to none."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    name: str
    median_ms: float
    spread_ms: float
    """Between the first and the third quartile."""
    ratio: float


def take_turns(actions: Mapping[str, Callable[[], object]], *, floor: str, rounds: int) -> list[Timing]:
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            began = time.perf_counter()
            action()
            seconds[name].append(time.perf_counter() - began)
    lowest = statistics.median(seconds[floor])
    return [_timing(name, taken, lowest) for name, taken in seconds.items()]


def _timing(name: str, taken: list[float], lowest: float) -> Timing:
    first, middle, third = statistics.quantiles(taken, n=4)
    return Timing(name, middle * 1000, (third - first) * 1000, middle / lowest)


def program(*argv: str, env: Mapping[str, str] | None = None) -> Callable[[], object]:
    def run() -> None:
        subprocess.run(argv, env=env, check=True, stdout=subprocess.DEVNULL)

    return run


def table(title: str, timings: list[Timing]) -> str:
    width = max(len(timing.name) for timing in timings)
    lines = [f"{t.name:<{width}}  {t.median_ms:9.2f} ms  ± {t.spread_ms:7.2f}  {t.ratio:7.2f} x" for t in timings]
    return "\n".join([title, "-" * len(title), *lines])
