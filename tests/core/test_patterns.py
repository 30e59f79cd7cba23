"""Patterns that could take long are refused; those that are taken, take no time."""

from __future__ import annotations

import time

import pytest

from llmc.core.screen.patterns import UnsafePatternError, safe_pattern
from llmc.core.screen.screen import LONGEST_LINE

HARMLESS = [
    "esc to interrupt",
    r"^\s*┃ +↑↓ select +enter",
    r"^[·✢✳✶✻✽*] (?P<doing>\S[^…]{0,60})…",
    r"^(?:› |  )\d\. (?:Yes|No|Allow)",
    r"(?i)\?[\"”)]{0,3}$|\b(?:let me know|please (?:confirm|choose))\b",
    r"\d{1,7},\d{1,7}(?:-\d{1,4})? {1,20}(?:All|Top|\d{1,3}%)$",
    r"^.*foo.*$",
    r"(?!x)[a-c]+=\d",
]


@pytest.mark.parametrize("pattern", HARMLESS)
def test_what_one_writes_is_taken(pattern):
    assert safe_pattern(pattern).pattern == pattern


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a+)+$", "not of one length"),
        (r"(a|a)*b", "not of one length"),
        (r"(?:a|ab){5,90}c", "not of one length"),
        (r"(.*)*x", "not of one length"),
        (r".*.*.*x", "too long"),
        (r"\w+\w+\w+!", "too long"),
        (r"(?:a|ab)(?:c|bc)" * 15, "too long"),
        (r"(?:a?)" * 30 + "a" * 30, "too long"),
        (r"(a)\1", "refers back"),
        (r"(?P<x>a)(?P=x)", "refers back"),
        (r"(a)?(?(1)b|c)", "refers back"),
        (r"(?m)^a", "one line at a time"),
        (r"(?s)a.b", "one line at a time"),
        (r"(unclosed", "no regular expression"),
        ("x" * 1000, "longer than"),
    ],
)
def test_what_could_take_long_is_refused(pattern, why):
    with pytest.raises(UnsafePatternError, match=why):
        safe_pattern(pattern)


@pytest.mark.parametrize("pattern", [*HARMLESS, r"x.*y", r"^.*.*y", r"\d+$"])
@pytest.mark.parametrize(
    "line", ["a" * LONGEST_LINE, "x" * LONGEST_LINE, " " * LONGEST_LINE, "1," * (LONGEST_LINE // 2)]
)
def test_what_is_taken_ends(pattern, line):
    began = time.perf_counter()
    found = safe_pattern(pattern).search(line)
    spent = time.perf_counter() - began
    assert found is None or found.end() <= LONGEST_LINE
    assert spent < 5  # a pattern that runs away takes years
