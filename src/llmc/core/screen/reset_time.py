"""When a limit is over, from the words in which a CLI tells it."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta

DAY = 86_400.0
LONGEST_SECS = 32 * DAY
"""Some limits are those of a month."""
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_EPOCH = re.compile(r"\|(\d{10})\b")
_SPAN = re.compile(r"(?i)\b(?:in|after)\s+((?:\d+(?:\.\d+)?\s*(?:d|h|m|s)[a-z]*[\s,]*(?:and\s+)?)+)")
_PART = re.compile(r"(?i)(\d+(?:\.\d+)?)\s*([dhms])")
_TIME = r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap]m)?\b"
_BEGINS = r"(?i)\b(?:resets?|until|again)(?:\s+(?:at|on))?\s+"
_CLOCK = re.compile(_BEGINS + _TIME)
_DATE = re.compile(
    rf"{_BEGINS}(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b"
    rf"(?:,?\s+(?P<year>20\d\d)\b)?(?:(?:,|\s+at)?\s+{_TIME})?"
)
_ZONE = re.compile(r"\s*\(([A-Za-z]+(?:/[A-Za-z_+-]+)*)\)")


def reset_time(words: str, now: float, utc_offset: float) -> float | None:
    """`utc_offset` is how many seconds the clock of the person is ahead of UTC."""
    found = _epoch(words) or _after_span(words, now) or _at_date(words, now, utc_offset)
    found = found or _at_clock(words, now, utc_offset)
    return found if found is not None and now < found <= now + LONGEST_SECS else None


def _epoch(words: str) -> float | None:
    found = _EPOCH.search(words)
    return float(found[1]) if found else None


def _after_span(words: str, now: float) -> float | None:
    found = _SPAN.search(words)
    if found is None:
        return None
    return now + sum(float(number) * _UNITS[unit.lower()] for number, unit in _PART.findall(found[1]))


def _at_date(words: str, now: float, utc_offset: float) -> float | None:
    """As `Nov 25, 9am (Europe/Berlin)` or `Nov 25th, 2026 3:45 PM`; without a year it is the next one of that name."""
    found = _DATE.search(words)
    time = (_time_of(found) if found["hour"] else timedelta()) if found is not None else None
    if found is None or time is None:
        return None
    today = datetime.fromtimestamp(now + utc_offset, UTC)
    month = _MONTHS.index(found["month"].lower()) + 1
    try:
        midnight = datetime(int(found["year"] or today.year), month, int(found["day"]), tzinfo=UTC)
        if not found["year"] and midnight < today - timedelta(days=1):
            midnight = midnight.replace(year=today.year + 1)
    except ValueError:
        return None
    return _in_zone(words, found.end(), midnight + time, utc_offset)


def _at_clock(words: str, now: float, utc_offset: float) -> float | None:
    found = _CLOCK.search(words)
    if found is None or not (found["minute"] or found["half"]):
        return None  # a bare number may be anything
    time = _time_of(found)
    if time is None:
        return None
    midnight = datetime.fromtimestamp(now + utc_offset, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    at = _in_zone(words, found.end(), midnight + time, utc_offset)
    return at if at > now else at + DAY


def _time_of(found: re.Match[str]) -> timedelta | None:
    hour, minute, half = int(found["hour"]), int(found["minute"] or 0), (found["half"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return timedelta(hours=hour, minutes=minute) if hour <= 23 and minute <= 59 else None


def _in_zone(words: str, behind: int, clock: datetime, utc_offset: float) -> float:
    """`clock`: what a clock shows then, in the zone whose name stands behind it, else the person's."""
    named = _ZONE.match(words, behind)
    if named is not None:
        from zoneinfo import ZoneInfo  # slow to load, and limits are rare

        with suppress(KeyError, ValueError, OSError):  # no zone, or none that is known here
            return clock.replace(tzinfo=ZoneInfo(named[1])).timestamp()
    return clock.timestamp() - utc_offset
