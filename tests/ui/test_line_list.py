"""The list that every screen of `llmc ui` is made of."""

from __future__ import annotations

import asyncio

from rich.text import Text
from textual.app import App, ComposeResult

from llmc.ui.line_list import LineList, ListLine


class OneList(App[None]):
    def compose(self) -> ComposeResult:
        yield LineList(id="lines", classes="range")


def _lines(keys: str) -> list[ListLine]:
    return [ListLine(key, lambda width: Text("x"), True) for key in keys]


def test_a_range_stays_where_it_began_when_a_line_comes_in_between() -> None:
    async def steps() -> None:
        app = OneList()
        async with app.run_test():
            shown = app.query_one(LineList)
            shown.show(_lines("abcd"))
            shown.go_to("d")
            shown.range_from = 1
            shown.show(_lines("aXbYcd"))
            assert (shown.range_from, shown.key) == (2, "d")
            shown.show(_lines("acd"))  # where it began is gone
            assert (shown.range_from, shown.key) == (None, "d")

    asyncio.run(steps())
