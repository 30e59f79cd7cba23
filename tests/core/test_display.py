from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.core.display import age, fitted, one_line, plain

FITS = st.text(st.characters(), max_size=300)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mred\x1b[0m", "a\ufffd[31mred\ufffd[0m"),
        ("\x9b2J", "\ufffd2J"),
        ("a\rb\x08\x07\0\x7f", "a\ufffdb\ufffd\ufffd\ufffd\ufffd"),
        ("\u202etxt.exe", "\ufffdtxt.exe"),
        ("❯\u00a0hello", "❯ hello"),
        ("lines\n\tand tabs", "lines\n\tand tabs"),
        ("日本語 🤖 e\u0301 👩\u200d💻", "日本語 🤖 e\u0301 👩\u200d💻"),
    ],
)
def test_what_a_terminal_would_act_upon_is_taken_out(text, expected):
    assert plain(text) == expected


@given(FITS)
def test_plain_text_is_as_long_and_harmless(text):
    shown = plain(text)
    assert len(shown) == len(text)
    assert all(c.isprintable() or c in "\n\t\u200c\u200d" for c in shown)
    assert plain(shown) == shown


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("  a\n\n b\tc ", 60, "a b c"),
        ("", 60, ""),
        ("x" * 60, 60, "x" * 60),
        ("x" * 61, 60, "x" * 59 + "…"),
        ("word word word", 11, "word word…"),
        ("a\x1bb", 60, "a\ufffdb"),
    ],
)
def test_one_line(text, limit, expected):
    assert one_line(text, limit) == expected


@given(FITS, st.integers(min_value=2, max_value=80))
def test_one_line_is_one_line_and_fits(text, limit):
    line = one_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line
    assert "\t" not in line


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        *((-5, "0s"), (0, "0s"), (0.9, "0s"), (59.9, "59s"), (60, "1m"), (3_599, "59m")),
        *((3_600, "1h"), (86_399, "23h"), (86_400, "1d"), (10 * 86_400, "10d")),
    ],
)
def test_ages(seconds, expected):
    assert age(seconds) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("short", "short"),
        ("─" * 500, "─" * 20),
        ("left" + " " * 400 + "right", "left" + " " * 11 + "right"),
        ("words that are longer than the line", "words that are longer than the line"),
    ],
)
def test_a_line_of_a_wide_terminal_in_a_narrow_one(line, expected):
    assert fitted(line, 20) == expected
    assert fitted(line, None) == line
