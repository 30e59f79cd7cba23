"""The prices of models: a dated file that LLMC brings along, and the user's own `prices.toml`, which comes first."""

from __future__ import annotations

import os
from functools import cache, lru_cache
from pathlib import Path

from llmc.config.load import decode, read_text
from llmc.config.problems import ConfigError, Problem
from llmc.config.value_types import string, words
from llmc.core.schema import NUMBER, MismatchError, ValueType, list_of, optional, path_of, record_of, what_is_wrong
from llmc.core.usage.prices import STEPS, Price, PriceBook, by_name
from llmc.values import Value

OWN = Path(__file__).with_name("prices.toml")
EXAMPLE = 'see docs/usage.md; a price is [[price]] with models = ["NAME"], input = 2, output = 10'


def _dollars(value: object) -> float:
    number = NUMBER.read(value)
    if not 0 <= number <= 100_000:
        raise MismatchError
    return number


def _step(value: object) -> int:
    if value not in (0, *STEPS) or isinstance(value, bool):
        raise MismatchError
    return int(str(value))


def is_day(text: str) -> bool:
    """As `2026-11-19`."""
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


DOLLARS = ValueType("a number of dollars from 0 to 100000", _dollars)
_DAY = string("", "a day such as 2026-11-19", is_day)
_PRICE = record_of(
    Price,
    {
        "models": words("", "a list of names of models", at_least=1),
        "since": _DAY,
        "above": ValueType(f"one of {', '.join(map(str, STEPS))}", _step),
        **dict.fromkeys(("input", "output"), DOLLARS),
        **dict.fromkeys(("cache_read", "cache_write", "cache_write_1h"), optional(DOLLARS)),
    },
)


class PriceFile(Value):
    price: tuple[Price, ...] = ()
    as_of: str = ""


_FILE = record_of(PriceFile, {"price": list_of(_PRICE.as_type("a table"), "a list of tables"), "as_of": _DAY})


def read_prices(path: Path | str) -> PriceFile:
    """Raises ConfigError."""
    try:
        return _FILE.read(decode(read_text(path), str(path)))
    except MismatchError as wrong:
        problems = [Problem(each.key, f"{path_of(each.key)} {what_is_wrong(each)}", EXAMPLE) for each in wrong.misfits]
        raise ConfigError(str(path), problems) from wrong


def price_book(own: str) -> PriceBook:
    """`own`: where the user's prices are, if there are any. Read again when that has changed."""
    try:
        status = os.stat(own)
    except OSError:
        return _book(own, None)  # there are none, or reading them tells why that cannot be done
    return _book(own, (status.st_ino, status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=4)
def _book(own: str, _seen: tuple[int, ...] | None) -> PriceBook:
    ours = _ours()
    theirs = (by_name(read_prices(own).price),) if os.path.lexists(own) else ()
    return PriceBook((*theirs, by_name(ours.price)), ours.as_of)


@cache
def _ours() -> PriceFile:
    return read_prices(OWN)
