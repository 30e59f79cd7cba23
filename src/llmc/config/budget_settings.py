"""`[budget]`: what may be spent."""

from __future__ import annotations

from llmc.core.schema import MismatchError, ValueType, whole
from llmc.core.setting import option
from llmc.values import Value


def _dollars(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1_000_000:
        raise MismatchError
    return float(value)


DOLLARS = ValueType("a number of dollars above 0, up to 1000000", _dollars, "5.0", "number")
_UNLIMITED = "no limit"


class BudgetSettings(Value):
    task_usd: float | None = option(
        DOLLARS, None, "dollars, at the prices of the API, after which a task is stopped", _UNLIMITED
    )
    task_tokens: int | None = option(
        whole(1, 10**12, "2000000"),
        None,
        "tokens, those of caches included, after which a task is stopped",
        _UNLIMITED,
    )
    day_usd: float | None = option(
        DOLLARS, None, "dollars, of all workers on one day, after which everybody is stopped until midnight", _UNLIMITED
    )
