"""Screens that are read: help, explanations, events, the output of checks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from rich.text import Text
from textual.widget import Widget

from llmc.core.display import plain
from llmc.core.lifecycle.signal_words import reason
from llmc.ui.card_texts import folded, joined, safe
from llmc.ui.face_screen import FaceScreen, nothing
from llmc.ui.keys import TEXT_KEYS, Key, bindings, help_lines
from llmc.ui.line_list import LineList, ListLine, fixed

EVENTS_AT_FIRST = 200


class TextScreen(FaceScreen):
    KEYS = TEXT_KEYS
    NAME = "Text"
    BINDINGS = bindings(TEXT_KEYS)

    def __init__(self, title: str, texts: Sequence[Text] = ()) -> None:
        super().__init__()
        self._title, self._texts = title, texts

    def body(self) -> list[Widget]:
        return [LineList(id="text")]

    def head(self) -> Text:
        return joined(Text(" "), safe(self._title, "strong"))

    def on_mount(self) -> None:
        self.lines.focus()
        self.show_texts(self._texts)

    @property
    def lines(self) -> LineList:
        return self.query_one("#text", LineList)

    def show_texts(self, texts: Sequence[Text]) -> None:
        self._texts = texts
        width = max(20, self.size.width - 3)
        lines = [line for text in texts for line in folded(text, width, most=50)]
        self.lines.show([fixed(joined(Text(" "), line), str(n), can_select=True) for n, line in enumerate(lines)], "0")

    def on_resize(self) -> None:
        super().on_resize()
        if self.is_mounted:
            self.show_texts(self._texts)


def help_screen(name: str, keys: tuple[Key, ...]) -> TextScreen:
    rows = [joined(safe(f"  {key:<12}", "key"), safe(words)) for key, words in help_lines(keys)]
    mouse = safe("  A click selects, a second one opens; the words at the bottom can be clicked too.", "faint")
    return TextScreen(f"Keys: {name}", [Text(""), *rows, Text(""), mouse])


def texts_of(words: str) -> list[Text]:
    return [safe(line) for line in plain(words).rstrip("\n").split("\n")]


class AnswerScreen(TextScreen):
    """What a command says."""

    def __init__(self, title: str, words: Sequence[str]) -> None:
        super().__init__(title, [nothing("one moment …")])
        self._words = words

    def on_mount(self) -> None:
        super().on_mount()
        self.run_worker(self._load())

    async def _load(self) -> None:
        answered = await self.face.ask(self._words)
        if answered.ok:
            self.show_texts(texts_of(answered.text))
        else:
            self.show_texts([safe(answered.error, "broken"), safe(answered.hint, "faint")])


class EventsScreen(TextScreen):
    """The newest last, as they come."""

    def __init__(self) -> None:
        super().__init__("Events", [nothing("one moment …")])
        self._known: dict[int, dict[str, Any]] = {}

    def on_mount(self) -> None:
        super().on_mount()
        self.run_worker(self._load())

    async def _load(self) -> None:
        answered = await self.face.ask(["events", "--json", "-n", str(EVENTS_AT_FIRST)])
        if not answered.ok or not isinstance(answered.data, list):
            self.show_texts([safe(answered.error, "broken"), safe(answered.hint, "faint")])
            return
        self._add(answered.data)
        self.lines.action_edge(1)

    def board_changed(self) -> None:
        if self.is_mounted and self._known:
            self._add(self.face.events)

    def _add(self, events: Sequence[dict[str, Any]]) -> None:
        at_end = self.lines.at >= len(self.lines.lines) - 1
        self._known |= {int(each["id"]): each for each in events}
        shown = [self._known[number] for number in sorted(self._known)]
        self.lines.show([_event_line(each) for each in shown])
        if at_end:
            self.lines.action_edge(1)

    def show_texts(self, texts: Sequence[Text]) -> None:
        if not self._known:
            super().show_texts(texts)


def _event_line(event: dict[str, Any]) -> ListLine:
    def draw(width: int) -> Text:
        at = time.strftime("%d %b %H:%M:%S", time.localtime(float(event["at_unix"])))
        what = str(event["signal"] or event["kind"])
        change = f"{event['work_before']} → {event['work_after']}".replace("_", " ")
        moved = change if event["work_before"] != event["work_after"] and event["work_after"] else ""
        said = reason(what, str(event["detail"] or ""))
        return joined(
            safe(f" {at} ", "quiet"),
            safe(str(event["worker"] or ""), "strong", 12),
            safe(what, "faint", 20),
            safe(f" {said}"),
            safe(f"  {moved}" if moved else "", "busy"),
        )

    return ListLine(str(event["id"]), draw, True, event["id"])
