"""Rows that stand alone, of what tmux prints as one."""

from __future__ import annotations

import pytest

from llmc.core.screen.drawn_rows import drawn_rows


@pytest.mark.parametrize(
    ("screen", "rows"),
    [
        ("plain\n\nrows", ("plain", "", "rows")),
        ("\x1b[31mred\nstill\n\x1b[0m\x1b[39mplain", ("\x1b[31mred", "\x1b[31mstill", "\x1b[31m\x1b[0m\x1b[39mplain")),
        ("\x1b[1m\x1b[44mbold\nboth", ("\x1b[1m\x1b[44mbold", "\x1b[1m\x1b[44mboth")),
        ("\x1b[31ma\x1b[32mb\nc", ("\x1b[31ma\x1b[32mb", "\x1b[32mc")),
        ("\x1b[31ma\x1b[39mb\nc", ("\x1b[31ma\x1b[39mb", "c")),
        ("\x1b[0;2mdim\nc", ("\x1b[0;2mdim", "\x1b[0;2mc")),
        ("\x1b[38;5;200ma\nb", ("\x1b[38;5;200ma", "\x1b[38;5;200mb")),
        ("\x0elqk\nx\x0fx", ("┌─┐", "│x")),
        ("\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\ tail", ("link tail",)),
        ("a\x1b[2Jb\x07c\x1b[?1003hd\x9be", ("abcde",)),
        ("\x1b]8;id=1;http://x\x07y", ("y",)),
    ],
)
def test_each_row_has_its_own_colours_and_nothing_else(screen, rows):
    assert drawn_rows(screen) == rows
