"""A list of lines of which only those in sight are drawn: the board, diffs, tasks and events are made of it.

What a line shows is a Rich text that was built in code: nothing in it is ever read as markup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from llmc.ui.palette import CURSOR, CURSOR_AWAY, RANGE
from llmc.values import Value


class ListLine(Value):
    key: str
    draw: Callable[[int], Text]
    """Of the width there is, when it comes into sight."""
    can_select: bool = True
    stamp: object = None
    """Equal to that of the line before it: nothing is to be drawn anew."""


def fixed(text: Text, key: str = "", *, can_select: bool = False) -> ListLine:
    return ListLine(key, lambda width: text, can_select, text)


class LineList(ScrollView, can_focus=True):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home,g", "edge(-1)", show=False),
        Binding("end,G", "edge(1)", show=False),
    ]

    class Moved(Message):
        """Another line is the current one."""

        def __init__(self, lines: LineList) -> None:
            super().__init__()
            self.lines = lines

        @property
        def control(self) -> LineList:
            return self.lines

    class Chosen(Moved):
        """Clicked when it was the current one already."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self.lines: Sequence[ListLine] = ()
        self.at = -1
        """The current line; -1 where none can be one."""
        self.range_from: int | None = None
        """Where a range began that ends at the current line."""

    @property
    def key(self) -> str:
        return self.lines[self.at].key if 0 <= self.at < len(self.lines) else ""

    def show(self, lines: Sequence[ListLine], key: str | None = None) -> None:
        """Stays at the line with this key (that of the current one), or else where it is."""
        before, wanted = self.lines, self.key if key is None else key
        began = "" if self.range_from is None or key is not None else before[self.range_from].key
        same_order = len(before) == len(lines) and all(a.key == b.key for a, b in zip(before, lines, strict=True))
        self.lines = lines
        if same_order and self.at >= 0 and key is None:
            for n, (old, new) in enumerate(zip(before, lines, strict=True)):
                if old.stamp is None or old.stamp != new.stamp:
                    self._draw_line(n)
            return
        self._fit()
        found = next((n for n, line in enumerate(lines) if wanted and line.key == wanted and line.can_select), None)
        at = self._nearest(max(self.at, 0)) if found is None else found
        # What comes in between, a comment for instance, must not shorten the range to its last line.
        kept = next((n for n, line in enumerate(lines) if began and line.key == began), None)
        self.range_from = kept if found is not None else None
        self._go(at, always=True)
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        self._fit()
        self._in_sight()

    def _fit(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, len(self.lines))

    def _nearest(self, at: int) -> int:
        """The line itself, or the next that can be the current one, or the one before."""
        below = range(at, len(self.lines))
        above = range(min(at, len(self.lines)) - 1, -1, -1)
        return next((n for some in (below, above) for n in some if self.lines[n].can_select), -1)

    # --- moving -----------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        self.range_from = None if self.range_from is None or not self.has_class("range") else self.range_from
        n = self.at + by
        while 0 <= n < len(self.lines) and not self.lines[n].can_select:
            n += by
        if 0 <= n < len(self.lines):
            self._go(n)
        else:
            self.scroll_to(y=0 if by < 0 else len(self.lines), animate=False)

    def action_page(self, by: int) -> None:
        reach = max(1, self.size.height - 2)
        at = max(0, min(len(self.lines) - 1, max(self.at, 0) + by * reach))
        self._go(self._nearest(at) if by > 0 else self._last_up_to(at))

    def action_edge(self, side: int) -> None:
        self._go(self._nearest(0) if side < 0 else self._last_up_to(len(self.lines) - 1))

    def _last_up_to(self, at: int) -> int:
        return next((n for n in range(at, -1, -1) if self.lines[n].can_select), self._nearest(0))

    def go_to(self, key: str) -> None:
        found = next((n for n, line in enumerate(self.lines) if line.key == key and line.can_select), None)
        if found is not None:
            self._go(found)

    def _go(self, at: int, *, always: bool = False) -> None:
        if at == self.at and not always:
            return
        before, self.at = self.at, at
        if self.range_from is not None:
            self.refresh()
        else:
            self._draw_line(before)
            self._draw_line(at)
        self._in_sight()
        self.post_message(self.Moved(self))

    def _in_sight(self) -> None:
        if self.at < 0 or not self.size.height:
            return
        # A heading right above comes along.
        top = self.at - 1 if self.at and not self.lines[self.at - 1].can_select else self.at
        rows = min(self.at - top + 1, self.size.height)
        self.scroll_to_region(Region(0, self.at - rows + 1, 1, rows), animate=False, force=True)

    def _draw_line(self, n: int) -> None:
        if 0 <= n < len(self.lines):
            y = n - self.scroll_offset.y
            if 0 <= y < self.size.height:
                self.refresh(Region(0, y, self.size.width, 1))

    # --- mouse ------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        n = event.y + self.scroll_offset.y
        if not (0 <= n < len(self.lines) and self.lines[n].can_select):
            return
        was_current = n == self.at
        if event.shift:
            self.range_from = self.at if self.range_from is None else self.range_from
        else:
            self.range_from = None
        self._go(n, always=True)
        if was_current and not event.shift:
            self.post_message(self.Chosen(self))

    # --- drawing ----------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        n, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        if n >= len(self.lines):
            return Strip.blank(width, self.rich_style)
        return strip_of(self.lines[n].draw(width), width, self.rich_style + self._mark(n), self)

    def _mark(self, n: int) -> Style:
        if n == self.at:
            return CURSOR if self.has_focus else CURSOR_AWAY
        if self.range_from is not None and min(self.range_from, self.at) <= n <= max(self.range_from, self.at):
            return RANGE
        return Style.null()

    def on_focus(self) -> None:
        self._draw_line(self.at)

    def on_blur(self) -> None:
        self._draw_line(self.at)


class Drawn(Widget):
    """A few lines of text that was built in code."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self.texts: Sequence[Text] = ()

    def show(self, *texts: Text) -> None:
        if list(texts) != list(self.texts):
            self.texts = texts
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y >= len(self.texts):
            return Strip.blank(width, self.rich_style)
        return strip_of(self.texts[y], width, self.rich_style, self)


def strip_of(text: Text, width: int, style: Style, widget: Widget) -> Strip:
    """One line of it, as wide as there is room."""
    segments = [each for each in text.render(widget.app.console, end="") if "\n" not in each.text]
    own = text.style if isinstance(text.style, Style) else Style.null()  # Rich leaves it out where there are no spans
    return Strip(segments).apply_style(own).adjust_cell_length(width).apply_style(style)
