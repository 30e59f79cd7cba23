"""When a limit is over, in the words of the CLIs."""

from __future__ import annotations

import pytest

from llmc.core.screen.reset_time import reset_time

NOON = 1_700_049_600.0
"""2023-11-15 12:00 UTC."""
HOUR, DAY = 3600.0, 86_400.0


@pytest.mark.lesson(19, "limits and logins are states of their own, with the time of their end")
@pytest.mark.parametrize(
    ("words", "offset", "after"),
    [
        (f"Claude AI usage limit reached|{int(NOON + 2 * HOUR)}", 0.0, 2 * HOUR),
        ("You've hit your session limit · resets 3pm", 0.0, 3 * HOUR),
        ("You've hit your session limit · resets 3pm (Europe/Berlin)", HOUR, 2 * HOUR),
        ("You've hit your session limit · resets 3pm (Europe/Berlin)", 0.0, 2 * HOUR),
        ("You've hit your session limit · resets 3pm (Nowhere/Atlantis)", HOUR, 2 * HOUR),
        ("You've hit your weekly limit · resets Nov 18, 9am (UTC)", HOUR, 3 * DAY - 3 * HOUR),
        ("You've hit your weekly limit · resets Nov 18 at 9:30am (Europe/Berlin)", 0.0, 3 * DAY - 3.5 * HOUR),
        ("spend limit reached · resets Dec 1 · request an increase", 0.0, 15.5 * DAY),
        ("You've hit your usage limit. Try again at Nov 18th, 2023 3:45 PM.", 0.0, 3 * DAY + 3.75 * HOUR),
        ("You've hit your usage limit. Upgrade to Pro, or try again at 3:45 PM.", 0.0, 3.75 * HOUR),
        ("Usage limit reached for gemini-3-pro. Access resets at 3:45 PM GMT+1.", HOUR, 2.75 * HOUR),
        ("resets Feb 31, 9am", 0.0, None),
        ("resets Nov 18, 2026, 9am", 0.0, None),
        ("resets Nov 3, 9am", 0.0, None),
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
