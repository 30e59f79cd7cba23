"""What may be spent, and what comes of it when it is. Pure, and without asking any model."""

from __future__ import annotations

from collections.abc import Iterable

from llmc.core.usage.sums import Spent
from llmc.values import Value

NOTICE_AT = 0.8
RELEASE = "`llmc task release {task}` lets it use as much again"
RAISE = "`llmc config set budget.{name} N` raises it"
NO_MORE_TODAY = "the budget of the day is spent"


class Allowance(Value):
    """What a task had spent when a person let it go on: its budgets count from there."""

    tokens: int = 0
    usd: float = 0.0


class Limit(Value):
    """One budget, and how much of it is gone."""

    name: str
    """Of its setting."""
    subject: str
    """The task, or the day."""
    limit: float
    spent: float
    begun_at: float = 0.0
    """What had been spent before: see `Allowance`."""

    @property
    def is_spent(self) -> bool:
        return self.spent >= self.limit

    @property
    def is_near(self) -> bool:
        return self.spent >= NOTICE_AT * self.limit

    @property
    def key(self) -> str:
        """Another one when a person has raised it or has let the task go on."""
        return f"{self.name}/{self.subject}/{self.limit:g}/{self.begun_at:g}"

    @property
    def is_of_day(self) -> bool:
        return self.name == "day_usd"


def limits_of_task(
    task: str, sum_: Spent, allowed: Allowance, usd: float | None, tokens: int | None
) -> tuple[Limit, ...]:
    found = []
    if usd is not None:
        found.append(Limit("task_usd", task, usd, sum_.known_usd - allowed.usd, allowed.usd))
    if tokens is not None:
        found.append(Limit("task_tokens", task, tokens, sum_.tokens.all - allowed.tokens, allowed.tokens))
    return tuple(found)


def limits_of_day(day: str, sum_: Spent, usd: float | None) -> tuple[Limit, ...]:
    return () if usd is None else (Limit("day_usd", day, usd, sum_.known_usd),)


def first_spent(limits: Iterable[Limit]) -> Limit | None:
    """The one of the day before others: no release helps against it."""
    return min((each for each in limits if each.is_spent), key=lambda each: not each.is_of_day, default=None)


def used(limit: Limit) -> str:
    """`$4.02 of $5.00`, or `81,000 of 100,000 tokens`."""
    if limit.name == "task_tokens":
        return f"{limit.spent:,.0f} of {limit.limit:,.0f} tokens"
    return f"${limit.spent:,.2f} of ${limit.limit:,.2f}"


def near_words(limit: Limit) -> str:
    whose = "today's budget" if limit.is_of_day else f"the budget of {limit.subject}"
    return f"{whose} is nearly spent: {used(limit)}; {RAISE.format(name=limit.name)}"


def spent_words(limit: Limit) -> str:
    whose = NO_MORE_TODAY if limit.is_of_day else f"the budget of {limit.subject} is spent"
    return f"{whose}: {used(limit)}"


def how_to_go_on(limit: Limit) -> str:
    raise_it = RAISE.format(name=limit.name)
    if limit.is_of_day:
        return f"{raise_it}, and it begins anew at midnight"
    return f"{RELEASE.format(task=limit.subject)}, {raise_it}"
