"""Where lines are after a change: the cases by hand, and any change against what a diff of it says."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmc.core.tasks.line_moves import LineHunk, LineRange, follow, parse_hunks


def moved(first, last, *hunks):
    found = follow(LineRange(first, last), [LineHunk(*each) for each in hunks])
    return found.first, found.last, found.touched


@pytest.mark.parametrize(
    ("hunks", "expected"),
    [
        ((), (5, 6, False)),
        (((1, 0, 2, 3),), (8, 9, False)),  # lines added above
        (((4, 0, 5, 1),), (6, 7, False)),  # right above
        (((6, 0, 7, 1),), (5, 6, False)),  # right below
        (((1, 2, 0, 0),), (3, 4, False)),  # lines removed above
        (((9, 1, 9, 4),), (5, 6, False)),
        (((5, 0, 6, 2),), (5, 8, True)),  # in between
        (((5, 1, 5, 1),), (5, 6, True)),
        (((6, 1, 6, 3),), (5, 8, True)),
        (((3, 8, 3, 2),), (3, 4, True)),  # a larger change around them
        (((3, 8, 4, 8),), (6, 7, True)),  # one line for each
        (((6, 1, 5, 0),), (5, 5, True)),  # one of two removed
        (((1, 1, 1, 3), (5, 2, 7, 1), (9, 1, 10, 9)), (7, 7, True)),
    ],
)
def test_lines_after_a_change(hunks, expected):
    assert moved(5, 6, *hunks) == expected


@pytest.mark.parametrize("hunks", [((5, 2, 4, 0),), ((1, 9, 0, 0),), ((1, 1, 1, 2), (4, 5, 4, 0))])
def test_lines_that_are_gone(hunks):
    first, last, touched = moved(5, 6, *hunks)
    assert last < first
    assert touched


def test_hunks_are_read_from_their_headers_alone():
    diff = "--- a\n+++ b\n@@ -1 +1,2 @@ def f():\n-@@ -9,9 +9,9 @@\n+x\n+y\n@@ -4,2 +5,0 @@\n-a\n-b\n"
    assert parse_hunks(diff) == (LineHunk(1, 1, 1, 2), LineHunk(4, 2, 5, 0))


def _hunks(before, after):
    for kind, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            yield LineHunk(i + 1 if j > i else i, j - i, k + 1 if m > k else k, m - k)


lines = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12)


@given(lines, lines, st.data())
def test_untouched_lines_are_found_where_they_are(before, after, data):
    first = data.draw(st.integers(1, len(before)))
    last = data.draw(st.integers(first, len(before)))
    found = follow(LineRange(first, last), list(_hunks(before, after)))
    assert 1 <= found.first <= len(after) + 1
    assert found.first - 1 <= found.last <= len(after)
    if not found.touched:
        assert after[found.first - 1 : found.last] == before[first - 1 : last]
