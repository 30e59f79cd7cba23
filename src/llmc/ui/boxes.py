"""Small boxes in which a person writes: a text for an agent, feedback, a comment, a new task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, TextArea

from llmc.ui.card_texts import safe
from llmc.ui.line_list import Drawn
from llmc.values import Value

SENDS = "Ctrl-S sends   Enter: a new line   Esc leaves"
MOST_QUOTED = 8


class TextBox(ModalScreen[str | None]):
    """A text of several lines; None when the person leaves. An empty one is an answer only where that is allowed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "send", priority=True, show=False),
        Binding("escape", "leave", priority=True, show=False),
    ]

    def __init__(self, title: str, quoted: Sequence[Text] = (), *, may_be_empty: bool = False) -> None:
        super().__init__()
        self._title, self._quoted, self._may_be_empty = title, quoted, may_be_empty

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Drawn(id="title")
            if self._quoted:
                yield Drawn(id="quoted", classes="quoted")
            yield TextArea(id="text", soft_wrap=True, show_line_numbers=False, tab_behavior="focus")
            yield Drawn(id="hint")

    def on_mount(self) -> None:
        self.query_one("#title", Drawn).show(safe(self._title, "strong"))
        if self._quoted:
            shown = list(self._quoted[:MOST_QUOTED])
            self.query_one("#quoted", Drawn).show(*shown)
            self.query_one("#quoted").styles.height = len(shown)
        self.query_one("#hint", Drawn).show(safe(SENDS, "faint"))
        area = self.query_one(TextArea)
        area.cursor_blink = False
        area.focus()

    def action_send(self) -> None:
        text = self.query_one(TextArea).text.strip("\n")
        if text.strip() or self._may_be_empty:
            self.dismiss(text)
        else:
            self.query_one("#hint", Drawn).show(safe("there is no text yet; Esc leaves", "waits"))

    def action_leave(self) -> None:
        self.dismiss(None)


class NewTask(Value):
    text: str
    title: str
    worker: str
    after: str
    priority: str

    def words(self) -> list[str]:
        """Of `llmc task add`; the text goes by its standard input."""
        flags = {"--title": [self.title], "--worker": [self.worker], "--priority": [self.priority]}
        flags["--after"] = self.after.replace(",", " ").split()
        given = [f"{flag}={value.strip()}" for flag, values in flags.items() for value in values if value.strip()]
        return ["task", "add", *given, "-"]


class TaskBox(ModalScreen[NewTask | None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,ctrl+enter", "send", priority=True, show=False),
        Binding("escape", "leave", priority=True, show=False),
    ]
    FIELDS = (
        ("title", "Title", "the first line of the text"),
        ("worker", "Worker", "whoever is free and suits it"),
        ("after", "After", "ids of tasks that must land first, such as t1 t2"),
        ("priority", "Priority", "0; the higher, the sooner"),
    )

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Drawn(id="title")
            yield TextArea(id="text", soft_wrap=True, show_line_numbers=False, tab_behavior="focus")
            for name, _, usual in self.FIELDS:
                with Horizontal(classes="field"):
                    yield Drawn(id=f"label-{name}")
                    entry = Input(placeholder=usual, id=f"field-{name}", compact=True)
                    entry.cursor_blink = False
                    yield entry
            yield Drawn(id="hint")

    def on_mount(self) -> None:
        self.query_one("#title", Drawn).show(safe("New task", "strong"))
        for name, label, _ in self.FIELDS:
            self.query_one(f"#label-{name}", Drawn).show(safe(label, "faint"))
        self.query_one("#hint", Drawn).show(safe(f"Tab: the next field   {SENDS}", "faint"))
        area = self.query_one(TextArea)
        area.cursor_blink = False
        area.focus()

    def action_send(self) -> None:
        text = self.query_one(TextArea).text.strip("\n")
        if not text.strip():
            self.query_one("#hint", Drawn).show(safe("there is no text yet; Esc leaves", "waits"))
            return
        fields = {name: self.query_one(f"#field-{name}", Input).value for name, *_ in self.FIELDS}
        self.dismiss(NewTask(text, **fields))

    def action_leave(self) -> None:
        self.dismiss(None)
