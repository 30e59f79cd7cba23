"""What tokens cost, by model, day and length of the prompt. What has no price is unknown, and never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from llmc.core.usage.answer import Tokens
from llmc.values import Value

PER = 1_000_000
STEPS = (100_000, 200_000, 272_000)
"""Where prices change with the length of the prompt."""
_DATED = re.compile(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest|\d{3})$")
"""How a model names one of its versions: they cost the same."""
_SIZED = re.compile(r"\[\d+[km]\]$")


class Price(Value):
    """In dollars per million tokens. None: as `input`."""

    models: tuple[str, ...]
    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_1h: float | None = None
    """None: as `cache_write`."""
    since: str = ""
    """The first day on which it holds."""
    above: int = 0
    """Only for prompts of more tokens than this; one of `STEPS`."""

    def of(self, tokens: Tokens) -> float:
        write = self.input if self.cache_write is None else self.cache_write
        write_1h = write if self.cache_write_1h is None else self.cache_write_1h
        read = self.input if self.cache_read is None else self.cache_read
        for_short = max(0, tokens.cache_write - tokens.cache_write_1h)
        return (
            tokens.input * self.input
            + tokens.output * self.output
            + tokens.cache_read * read
            + for_short * write
            + tokens.cache_write_1h * write_1h
        ) / PER


class PriceBook(Value):
    """What stands first comes first: a person's own prices before those that LLMC brings along."""

    lists: tuple[Mapping[str, tuple[Price, ...]], ...]
    """By the name of the model."""
    as_of: str = ""

    def price(self, model: str, day: str, step: int) -> Price | None:
        for by_name in self.lists:
            for name in _names(model):
                held = [price for price in by_name.get(name, ()) if price.since <= day and price.above <= step]
                if held:
                    return max(held, key=lambda price: (price.since, price.above))
        return None

    def cost(self, model: str, day: str, step: int, tokens: Tokens) -> float | None:
        """None where nobody knows."""
        price = self.price(model, day, step)
        return price.of(tokens) if price is not None else None


def by_name(prices: Iterable[Price]) -> Mapping[str, tuple[Price, ...]]:
    found: dict[str, tuple[Price, ...]] = {}
    for price in prices:
        for name in price.models:
            found[name] = (*found.get(name, ()), price)
    return found


def _names(model: str) -> list[str]:
    """As it is told, without the name of a provider before it, and without the version behind it."""
    bare = _SIZED.sub("", model.rpartition("/")[2])
    return list(dict.fromkeys((model, bare, _DATED.sub("", bare))))


def step_of(prompt: int) -> int:
    """Which of the steps a prompt of so many tokens is above; 0 for none."""
    return max((step for step in STEPS if prompt > step), default=0)
