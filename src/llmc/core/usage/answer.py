"""What one answer of a model has cost, as the CLI that asked for it writes it down or reports it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmc.values import Value

MOST_TOKENS = 10**12
"""More than any answer can have: what is above is no count."""


class Tokens(Value):
    """In buckets that share nothing: each has its own price."""

    input: int = 0
    """Read, and neither from a cache nor into one."""
    output: int = 0
    """Said and thought."""
    cache_read: int = 0
    cache_write: int = 0
    """Into any cache, the next one included."""
    cache_write_1h: int = 0
    """Into one that is kept for an hour, which costs more."""

    @property
    def all(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.cache_write_1h + other.cache_write_1h,
        )


class ModelAnswer(Value):
    """Told twice under one id, it counts once: a resumed or forked conversation begins with a copy of the old one."""

    id: str
    model: str
    at_unix: float
    tokens: Tokens


class FilePlace(Value):
    """How far a file was read that tells of answers."""

    inode: int = 0
    size: int = 0
    changed_ns: int = 0
    offset: int = 0
    ending: str = ""
    """A digest of what stands before the offset."""
    remembered: str = "{}"
    """What the reader has to know of the lines before, as JSON."""


def count(value: object) -> int:
    """A number of tokens as files have it; 0 for what is none."""
    if type(value) is float and value.is_integer():
        value = int(value)  # not every language has whole numbers
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else 0


def without_cached(prompt: object, cached: object, written: object = 0) -> int:
    """Of those who count what was cached as a part of what was read."""
    return max(0, count(prompt) - count(cached) - count(written))


REPORTED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def reported_answer(data: Mapping[str, Any]) -> ModelAnswer | None:
    """That of a report of `usage`, without its time; None where it does not say which one, or what that has cost."""
    tokens = Tokens(*(count(data.get(name)) for name in REPORTED))
    told = data.get("id")
    if not isinstance(told, str) or not told or not tokens.all:
        return None
    return ModelAnswer(told[:200], str(data.get("model") or "")[:200], 0.0, tokens)
