"""What is drawn for somebody who looks at a terminal from far away."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from llmc.core.screen.frames import TerminalFrame, difference, whole


class Viewer:
    """As much of a terminal as frames need: places, rows, and what has scrolled out."""

    def __init__(self, height):
        self.height = height
        self.rows = [""] * height
        self.above = []
        self.at = (0, 0)

    def draw(self, data):
        rest = data
        while rest:
            rest = self._one(rest)

    def _one(self, rest):
        if rest.startswith("\x1bc"):
            self.__init__(self.height)
            return rest[2:]
        if rest.startswith("\x1b["):
            end = next(n for n, c in enumerate(rest[2:], 2) if c.isalpha())
            words, letter = rest[2:end], rest[end]
            if letter == "H":
                row, _, column = (words or "1;1").partition(";")
                self.at = (int(row) - 1, int(column or 1) - 1)
            elif letter == "J":
                self.rows = [""] * self.height
            elif letter == "K":
                self.rows[self.at[0]] = self.rows[self.at[0]][: self.at[1]]
            return rest[end + 1 :]
        if rest.startswith("\r\n"):
            if self.at[0] == self.height - 1:
                self.above.append(self.rows.pop(0))
                self.rows.append("")
            else:
                self.at = (self.at[0] + 1, 0)
            self.at = (self.at[0], 0)
            return rest[2:]
        row, column = self.at
        self.rows[row] = self.rows[row][:column].ljust(column) + rest[0] + self.rows[row][column + 1 :]
        self.at = (row, column + 1)
        return rest[1:]


def frame(rows, scrolled=0, height=4, cursor=(0, 0)):
    return TerminalFrame(tuple(rows), 20, height, cursor, scrolled=scrolled)


WORDS = st.text("abc ", max_size=6).map(str.rstrip)


@given(st.lists(WORDS, min_size=4, max_size=30), st.integers(0, 26))
def test_scrolling_leaves_the_same_screen_and_history(lines, by):
    """A program that prints line after line, looked at twice."""
    by = min(by, len(lines) - 4)
    viewer = Viewer(4)
    before = frame(lines[:4])
    viewer.draw(whole(before))
    after = frame(lines[by : by + 4], scrolled=by)
    drawn = difference(before, after, tuple(lines[:by]))
    assert drawn is not None
    viewer.draw(drawn)
    assert viewer.rows == lines[by : by + 4]
    assert viewer.above == lines[:by]


def test_only_changed_rows_are_drawn():
    drawn = difference(frame(["a", "b", "c", "d"]), frame(["a", "x", "c", "d"], cursor=(1, 1)))
    assert drawn is not None
    assert "x" in drawn
    assert "c" not in drawn.replace("\x1bc", "")
    assert difference(frame(["a"] * 4), frame(["a"] * 4)) == ""


def test_another_size_or_a_history_that_was_dropped_takes_the_whole():
    assert difference(frame(["a"] * 4), frame(["a"] * 5, height=5)) is None
    assert difference(frame(["a"] * 4, scrolled=9), frame(["a"] * 4, scrolled=2)) is None
    assert difference(frame(["a"] * 4), frame(["a"] * 4, scrolled=3), ("one",)) is None


def test_history_is_above_the_first_screen():
    viewer = Viewer(4)
    viewer.draw(whole(frame(["a", "b", "c", "d"], scrolled=2), ("old", "older")))
    assert viewer.rows == ["a", "b", "c", "d"]
    assert [row for row in viewer.above if row] == ["old", "older"]
