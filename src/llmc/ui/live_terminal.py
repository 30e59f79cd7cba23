"""The selected terminal, live: its device tells when something was written, then tmux is asked once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from rich.style import Style
from rich.text import Span, Text
from textual.strip import Strip
from textual.widget import Widget

from llmc.commands.shared.beside import beside
from llmc.core.screen.frames import TerminalFrame
from llmc.errors import LlmcError
from llmc.fleet.terminals import TerminalElsewhere, terminal_elsewhere
from llmc.host.watch import open_watch
from llmc.observe.live_screens import look_at_panes
from llmc.site import Site
from llmc.ui.card_texts import safe
from llmc.ui.line_list import strip_of

AT_MOST_EVERY_SECS = 0.15
SETTLED_SECS = 0.05
"""Who runs down the list wants to see the one where they stop."""
LOOK_EVERY_SECS = 1.0
"""Where the system tells nothing by itself."""


class TerminalView(Widget):
    """As much of a terminal as there is room for: what is at its bottom, where agents write."""

    DEFAULT_CSS = "TerminalView { height: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._rows: list[Text] = []
        self._frame: TerminalFrame | None = None

    def show(self, frame: TerminalFrame | None, words: str = "") -> None:
        if frame is not None and frame == self._frame:
            return
        self._frame = frame
        self._rows = _rows(frame) if frame is not None else [safe(words, "quiet")]
        self.refresh()

    def render_line(self, y: int) -> Strip:
        height, width = self.size.height, self.size.width
        n = y + max(0, len(self._rows) - height)
        if n >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        return strip_of(self._rows[n], width, self.rich_style, self)


def _rows(frame: TerminalFrame) -> list[Text]:
    """tmux names a colour once and not again in the rows below: they are read as one text."""
    text = Text.from_ansi("\n".join(frame.rows))
    text.spans = [Span(start, end, _without_defaults(style)) for start, end, style in text.spans]
    rows = list(text.split("\n", allow_blank=True))
    last = max((n for n, row in enumerate(rows) if row.plain.strip()), default=-1)
    rows = rows[: max(last, frame.cursor[1]) + 1]
    x, y = frame.cursor
    if frame.cursor_shown and not frame.dead and y < len(rows):
        rows[y].pad_right(max(0, x + 1 - len(rows[y].plain)))
        rows[y].stylize("reverse", x, x + 1)
    return rows


def _without_defaults(style: str | Style) -> Style:
    """The terminal's own colours are ours here."""
    if not isinstance(style, Style):
        return Style.null()
    colour, ground = (None if each is None or each.is_default else each for each in (style.color, style.bgcolor))
    return Style(
        color=colour,
        bgcolor=ground,
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        reverse=style.reverse,
        strike=style.strike,
    )


class LiveTerminal:
    """Follows one terminal at a time. No client of tmux stays attached, and nothing resizes the pane."""

    def __init__(self, open_site: Callable[[], Site], show: Callable[[TerminalFrame | None, str], None]) -> None:
        self._open_site, self._show = open_site, show
        self._site: Site | None = None
        self._watch = open_watch()
        self._wanted = self._followed = ""
        self._pane = ""
        self._elsewhere: TerminalElsewhere | None = None
        self._far: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    def follow(self, worker: str) -> None:
        """Nobody where it is empty."""
        is_followed = worker == self._wanted and (self._pane or not worker)
        self._wanted = worker
        if not is_followed:
            self._news.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        loop, fd = asyncio.get_running_loop(), self._watch.fileno()
        if fd is not None:
            loop.add_reader(fd, self._written)
        try:
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), None if fd is not None else LOOK_EVERY_SECS)
                if self._wanted != self._followed:
                    await asyncio.sleep(SETTLED_SECS)
                self._news.clear()
                worker = self._wanted
                if self._far is not None and worker != self._followed:
                    self._far.cancel()
                    self._far = None
                frame, words = await asyncio.to_thread(self._look, worker)
                if worker == self._wanted and frame is None and self._elsewhere is not None:
                    self._far = self._far or asyncio.create_task(self._follow_far(worker, self._elsewhere))
                elif worker == self._wanted:
                    self._show(frame, words)
                await asyncio.sleep(AT_MOST_EVERY_SECS)
        finally:
            if self._far is not None:
                self._far.cancel()
            if fd is not None:
                loop.remove_reader(fd)
            self._watch.close()

    async def _follow_far(self, worker: str, terminal: TerminalElsewhere) -> None:
        """One on another machine, which tells by itself when something was written."""
        try:
            while True:
                try:
                    frame = await beside(terminal.look)
                    words = ""
                except LlmcError as silent:
                    frame, words = None, silent.what
                    await asyncio.sleep(LOOK_EVERY_SECS)
                if worker == self._wanted and (frame is not None or words):
                    self._show(frame, words)
                await asyncio.sleep(AT_MOST_EVERY_SECS)
        finally:
            terminal.close()

    def _written(self) -> None:
        if self._watch.changed():
            self._news.set()

    def _look(self, worker: str) -> tuple[TerminalFrame | None, str]:
        try:
            if self._site is None:
                self._site = self._open_site()
            if worker != self._followed or not (self._pane or self._elsewhere):
                self._find(self._site, worker)
            frame = look_at_panes(self._site.tmux, [self._pane]).get(self._pane) if self._pane else None
        except (LlmcError, OSError, ValueError) as broken:
            return None, str(broken)
        if frame is None:
            self._pane = ""
        return frame, f"{worker} has no terminal now" if worker else ""

    def _find(self, site: Site, worker: str) -> None:
        self._watch.forget("terminal")
        self._followed, self._pane = worker, ""
        self._elsewhere = terminal_elsewhere(site, worker) if worker else None
        known = site.ledger.load().workers.get(worker) if worker else None
        pane = site.tmux.pane_of(known.session_id) if known is not None else None
        if pane is not None:
            self._pane = pane.id
            self._watch.add(pane.tty, "terminal")
