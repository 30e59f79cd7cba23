"""When a limit is over, in the words of the CLIs."""

from __future__ import annotations

import pytest

from llmc.core.screen.reset_time import reset_time

NOON = 1_700_049_600.0
"""2023-11-15 12:00 UTC."""
HOUR = 3600.0


@pytest.mark.lesson(19, "limits and logins are states of their own, with the time of their end")
@pytest.mark.parametrize(
    ("words", "offset", "after"),
    [
        (f"Claude AI usage limit reached|{int(NOON + 2 * HOUR)}", 0.0, 2 * HOUR),
        ("You've hit your session limit · resets 3pm", 0.0, 3 * HOUR),
        ("You've hit your session limit · resets 3pm (Europe/Berlin)", HOUR, 2 * HOUR),
        ("Your limit will reset at 12:30", 0.0, HOUR / 2),
        ("limit reached, resets at 12:30", 0.0, HOUR / 2),
        ("resets 11:59am", 0.0, 24 * HOUR - 60),
        ("resets 12am", 0.0, 12 * HOUR),
        ("Please try again in 20 minutes.", 0.0, 20 * 60.0),
        ("try again in 1h 30m", 0.0, 1.5 * HOUR),
        ("Rate limit reached. Please retry after 30 s", 0.0, 30.0),
        ("try again in 2 days, 3 hours and 4 minutes", 0.0, 2 * 24 * HOUR + 3 * HOUR + 240),
        ("API Error: Request rejected (429) · Rate limit reached for requests", 0.0, None),
        ("resets 3", 0.0, None),
        ("resets 27:00", 0.0, None),
        ("try again in 400 days", 0.0, None),
        ("", 0.0, None),
    ],
)
def test_when_it_is_over(words, offset, after):
    expected = None if after is None else NOON + after
    assert reset_time(words, NOON, offset) == expected
