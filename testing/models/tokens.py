"""What an answer is said to have cost. Each API has its own words for it, and counts what was cached in its own way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tokens:
    """None of them is counted in another."""

    input: int = 10
    output: int = 20
    cache_read: int = 0
    cache_write: int = 0

    @property
    def prompt(self) -> int:
        """All that was read, as OpenAI and Google count."""
        return self.input + self.cache_read + self.cache_write

    @property
    def all(self) -> int:
        return self.prompt + self.output


Tariff = Callable[[int], Tokens]
"""From the number of an answer, counted from zero, to what it costs."""


def always_the_same(_number: int) -> Tokens:
    return Tokens()


def each_its_own(number: int) -> Tokens:
    """So that no answer can stand for another, and whoever counts one twice or not at all is wrong."""
    return Tokens(1000 + 7 * number, 100 + 3 * number, 20_000 + 11 * number, 300 + 13 * number)


@dataclass(frozen=True, slots=True)
class Bill:
    """One answer that was told to its end."""

    model: str
    auxiliary: bool
    tokens: Tokens


def total(bills: list[Bill]) -> Tokens:
    told = [bill.tokens for bill in bills]
    return Tokens(
        sum(each.input for each in told),
        sum(each.output for each in told),
        sum(each.cache_read for each in told),
        sum(each.cache_write for each in told),
    )
