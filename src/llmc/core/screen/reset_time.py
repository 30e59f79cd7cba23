"""When a limit is over, from the words in which a CLI tells it."""

from __future__ import annotations

import re

DAY = 86_400.0
LONGEST_SECS = 8 * DAY
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY}
_EPOCH = re.compile(r"\|(\d{10})\b")
_SPAN = re.compile(r"(?i)\b(?:in|after)\s+((?:\d+(?:\.\d+)?\s*(?:d|h|m|s)[a-z]*[\s,]*(?:and\s+)?)+)")
_PART = re.compile(r"(?i)(\d+(?:\.\d+)?)\s*([dhms])")
_CLOCK = re.compile(r"(?i)\b(?:resets?|until|again)(?:\s+at)?\s+(\d{1,2})(?::(\d{2}))?\s*([ap]m)?\b")


def reset_time(words: str, now: float, utc_offset: float) -> float | None:
    """`utc_offset` is how many seconds the clock of the person is ahead of UTC."""
    found = _epoch(words) or _after_span(words, now) or _at_clock(words, now, utc_offset)
    return found if found is not None and now < found <= now + LONGEST_SECS else None


def _epoch(words: str) -> float | None:
    found = _EPOCH.search(words)
    return float(found[1]) if found else None


def _after_span(words: str, now: float) -> float | None:
    found = _SPAN.search(words)
    if found is None:
        return None
    return now + sum(float(number) * _UNITS[unit.lower()] for number, unit in _PART.findall(found[1]))


def _at_clock(words: str, now: float, utc_offset: float) -> float | None:
    found = _CLOCK.search(words)
    if found is None or not (found[2] or found[3]):
        return None  # a bare number may be anything
    hour, minute, half = int(found[1]), int(found[2] or 0), (found[3] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour > 23 or minute > 59:
        return None
    midnight = now - (now + utc_offset) % DAY
    at = midnight + hour * 3600.0 + minute * 60.0
    return at if at > now else at + DAY
