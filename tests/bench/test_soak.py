"""What the long run with many terminals calls growth."""

from __future__ import annotations

import random
from collections.abc import Callable

from bench.soak import SAMPLE_SECS, Sample, growth, trend

MINUTE = 60.0


def taken(memory_at: Callable[[float], float], minutes: float = 15, files: Callable[[float], int] = lambda _: 100):
    moments = [number * SAMPLE_SECS for number in range(int(minutes * MINUTE / SAMPLE_SECS))]
    return [Sample(at, memory_at(at), files(at)) for at in moments]


def test_steady_growth_is_found() -> None:
    samples = taken(lambda at: 48.0 + 18 * at / 3600)
    assert round(trend(samples) or 0) == 18
    assert growth(samples) == ["the memory grew by 1.5 MB", "the memory grows by 18.0 MB per hour"]


def test_growth_in_many_small_pieces_is_found() -> None:
    assert growth(taken(lambda at: 48.0 + 0.5 * (at // 100)))


def test_what_goes_up_and_down_does_not_grow() -> None:
    noise = random.Random(1)
    assert growth(taken(lambda _: 48.0 + noise.uniform(-1, 1))) == []


def test_what_is_taken_at_the_beginning_is_no_growth() -> None:
    assert growth(taken(lambda at: 40.0 + min(8.0, at / 30))) == []


def test_a_single_piece_is_no_trend() -> None:
    for minute in (6, 8, 10, 12, 14):
        assert growth(taken(lambda at, minute=minute: 48.0 + (0.9 if at > minute * MINUTE else 0.0))) == []


def test_a_short_run_tells_no_trend() -> None:
    assert trend(taken(lambda at: 40.0 + at / 60, minutes=9)) is None
    assert trend([]) is None


def test_files_that_stay_open_are_found() -> None:
    assert growth(taken(lambda _: 48.0, files=lambda at: 100 + int(at // MINUTE))) == ["5 more open files"]
