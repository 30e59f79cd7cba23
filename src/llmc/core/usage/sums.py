"""What was spent, summed up as somebody wants to see it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Any

from llmc.core.usage.answer import Tokens
from llmc.core.usage.prices import PriceBook
from llmc.values import Value

BY = ("task", "worker", "agent", "model", "day")
COUNTED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


class UsageRow(Value):
    """All answers that have these in common. `task` is empty for what was spent outside of any."""

    task: str
    worker: str
    agent: str
    model: str
    day: str
    step: int
    """See `prices.step_of`."""
    tokens: Tokens


class Spent(Value):
    tokens: Tokens = Tokens()
    usd: float | None = None
    """At the prices of the API; None where nothing of it has a price."""
    unpriced: int = 0
    """How many of the tokens are of models that have no price."""

    @property
    def priced(self) -> str:
        if self.usd is None:
            return "unknown"
        return "partly" if self.unpriced else "api"

    @property
    def known_usd(self) -> float:
        return self.usd or 0.0


def spent(rows: Iterable[UsageRow], book: PriceBook) -> Spent:
    tokens, dollars, unpriced = Tokens(), [], 0
    for row in rows:
        tokens += row.tokens
        usd = book.cost(row.model, row.day, row.step, row.tokens)
        if usd is None:
            unpriced += row.tokens.all
        else:
            dollars.append(usd)
    return Spent(tokens, sum(dollars) if dollars else None, unpriced)


def spent_by(
    rows: Iterable[UsageRow], book: PriceBook, key: Callable[[UsageRow], tuple[Any, ...]]
) -> dict[tuple[Any, ...], Spent]:
    """Sums of what has the same key, in the order of the keys."""
    return {each: spent(found, book) for each, found in groupby(sorted(rows, key=key), key)}


def spent_by_task(rows: Iterable[UsageRow], book: PriceBook, parents: Mapping[str, str]) -> dict[str, Spent]:
    """Each with all that was made for it, directly or not. `parents`: for each that was, what it was made for."""
    found: dict[str, list[UsageRow]] = {}
    for row in rows:
        for task in with_parents(row.task, parents):
            found.setdefault(task, []).append(row)
    return {task: spent(charged, book) for task, charged in found.items()}


def spent_data(sum_: Spent) -> dict[str, Any]:
    tokens = sum_.tokens
    counts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
    usd = None if sum_.usd is None else round(sum_.usd, 6)
    return {**dict(zip(COUNTED, counts, strict=True)), "usd": usd, "priced": sum_.priced}


def usage_data(rows: Iterable[UsageRow], book: PriceBook, by: str | None) -> dict[str, Any]:
    """The document of `llmc usage --json`. Without `by`, a row for each that differs in anything."""
    rows = list(rows)
    names = [by] if by else [*BY]
    sums = spent_by(rows, book, lambda row: tuple(_sortable(name, getattr(row, name)) for name in names))
    told = [
        {**dict.fromkeys(BY), **dict(zip(names, map(_plain, key), strict=True)), **spent_data(sum_)}
        for key, sum_ in sums.items()
    ]
    return {"rows": told, "total": spent_data(spent(rows, book)), "prices_as_of": book.as_of}


def _sortable(name: str, text: str) -> tuple[int, str]:
    """Tasks by their number."""
    return (int(text[1:]) if name == "task" and text else 0, text)


def _plain(key: tuple[int, str]) -> str | None:
    return key[1] or None


def with_parents(task: str, parents: Mapping[str, str]) -> tuple[str, ...]:
    """The task, what it was made for, and so on."""
    line = [task] if task else []
    while line and (parent := parents.get(line[-1])) and parent not in line:
        line.append(parent)
    return tuple(line)
