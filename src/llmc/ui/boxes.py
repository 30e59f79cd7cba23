"""Small boxes in which a person writes: a text for an agent, feedback, a comment, a new task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, TextArea

from llmc.ui.card_texts import safe
from llmc.ui.line_list import Drawn
from llmc.values import Value

SENDS = "Enter sends   Ctrl-J: a new line   Esc leaves"
MOST_QUOTED = 8


Written = TypeVar("Written")


class WritingArea(TextArea):
    """Its keys are taken in the order in which they were pressed: a binding would overtake the text before it."""

    class Sent(Message):
        """Enter was pressed."""

    def __init__(self) -> None:
        super().__init__(id="text", soft_wrap=True, show_line_numbers=False, tab_behavior="focus")
        self.cursor_blink = False

    async def _on_key(self, event: events.Key) -> None:
        if event.key in ("enter", "ctrl+s"):
            event.stop()
            event.prevent_default()
            self.post_message(self.Sent())
        elif event.key in ("ctrl+j", "alt+enter", "shift+enter"):
            event.stop()
            event.prevent_default()
            self.insert("\n")
        else:
            await super()._on_key(event)


class WritingBox(ModalScreen[Written | None]):
    """Enter sends, as in the agents' own composers; what is pasted keeps its line breaks. None: left without."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def begin(self, title: str, hint: str) -> None:
        self.query_one("#title", Drawn).show(safe(title, "strong"))
        self.query_one("#hint", Drawn).show(safe(hint, "faint"))
        self.query_one(WritingArea).focus()

    @property
    def text(self) -> str:
        return self.query_one(WritingArea).text.strip("\n")

    def complain(self) -> None:
        self.query_one("#hint", Drawn).show(safe("there is no text yet; Esc leaves", "waits"))

    @on(WritingArea.Sent)
    def _sent(self) -> None:
        self.send()

    @on(Input.Submitted)
    def _field_sent(self) -> None:
        """When the composer has taken in all that was typed before."""
        self.query_one(WritingArea).call_later(self.send)

    def send(self) -> None:
        """What was written is the answer."""

    def action_leave(self) -> None:
        self.dismiss(None)


class TextBox(WritingBox[str]):
    """A text of several lines. An empty one is an answer only where that is allowed."""

    def __init__(self, title: str, quoted: Sequence[Text] = (), *, may_be_empty: bool = False) -> None:
        super().__init__()
        self._title, self._quoted, self._may_be_empty = title, quoted[:MOST_QUOTED], may_be_empty

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Drawn(id="title")
            yield Drawn(id="quoted")
            yield WritingArea()
            yield Drawn(id="hint")

    def on_mount(self) -> None:
        quoted = self.query_one("#quoted", Drawn)
        quoted.styles.height = len(self._quoted)
        quoted.show(*self._quoted)
        self.begin(self._title, SENDS)

    def send(self) -> None:
        if self.text.strip() or self._may_be_empty:
            self.dismiss(self.text)
        else:
            self.complain()


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


class NewTaskBox(WritingBox[NewTask]):
    FIELDS = (
        ("title", "Title", "the first line of the text"),
        ("worker", "Worker", "whoever is free and suits it"),
        ("after", "After", "ids of tasks that must land first, such as t1 t2"),
        ("priority", "Priority", "0; the higher, the sooner"),
    )

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Drawn(id="title")
            yield WritingArea()
            for name, _, usual in self.FIELDS:
                with Horizontal(classes="field"):
                    yield Drawn(id=f"label-{name}")
                    entry = Input(placeholder=usual, id=f"field-{name}", compact=True)
                    entry.cursor_blink = False
                    yield entry
            yield Drawn(id="hint")

    def on_mount(self) -> None:
        self._mark_field()
        self.begin("New task", f"Tab: the next field   {SENDS}")

    def send(self) -> None:
        if not self.text.strip():
            self.complain()
            return
        fields = {name: self.query_one(f"#field-{name}", Input).value for name, *_ in self.FIELDS}
        self.dismiss(NewTask(self.text, **fields))

    @on(events.DescendantFocus)
    def _mark_field(self) -> None:
        for name, label, _ in self.FIELDS:
            is_here = self.focused is not None and self.focused.id == f"field-{name}"
            text = safe(f"▸ {label}", "strong") if is_here else safe(f"  {label}", "faint")
            self.query_one(f"#label-{name}", Drawn).show(text)
