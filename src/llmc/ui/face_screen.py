"""What all screens share: a line above, what came of the last action, and the keys below."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, cast

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.events import ScreenResume
from textual.screen import Screen
from textual.widget import Widget

from llmc.ui.boxes import NewTask, NewTaskBox
from llmc.ui.card_texts import head_text, keys_text, safe
from llmc.ui.keys import Key
from llmc.ui.line_list import Drawn, LineList

if TYPE_CHECKING:
    from llmc.ui.face import BoardUi


class FaceScreen(Screen[None]):
    KEYS: tuple[Key, ...] = ()
    NAME = ""

    @property
    def face(self) -> BoardUi:
        return cast("BoardUi", self.app)

    def compose(self) -> ComposeResult:
        yield Drawn(id="head")
        yield from self.body()
        yield Drawn(id="status")
        yield Drawn(id="keys")

    def body(self) -> list[Widget]:
        return []

    @property
    def is_whole(self) -> bool:
        return self.is_mounted and len(self.query("#head, #status, #keys")) == 3

    def on_resize(self) -> None:
        self.redraw()

    def on_screen_resume(self) -> None:
        self.redraw()

    def redraw(self) -> None:
        self.draw_head()
        self.draw_status()
        self.draw_keys()

    def draw_head(self) -> None:
        self._drawn("head").show(self.head())

    def head(self) -> Text:
        return head_text(self.face.board, self.size.width)

    def draw_status(self) -> None:
        said, hint = self.face.status
        status = self._drawn("status")
        status.set_class(hint is not None, "hinted")
        status.show(said, *([hint] if hint is not None else []))

    def draw_keys(self) -> None:
        self._drawn("keys").show(keys_text(self.KEYS, self.offered(), self.size.width))

    def offered(self) -> Collection[str] | None:
        """The actions that there are now; None for all."""
        return None

    def _drawn(self, name: str) -> Drawn:
        return self.query_one(f"#{name}", Drawn)

    # --- what happens -----------------------------------------------------------------------------------

    def board_changed(self) -> None:
        """Something on the board is different."""
        if self.is_mounted:
            self.draw_head()

    def time_passed(self) -> None:
        """Ages have grown."""

    # --- keys that many have ----------------------------------------------------------------------------

    def action_back(self) -> None:
        self.dismiss(None)

    def action_help(self) -> None:
        from llmc.ui.text_screen import help_screen

        self.face.push_screen(help_screen(self.NAME, self.KEYS))

    def action_new_task(self) -> None:
        def added(task: NewTask | None) -> None:
            if task is not None:
                self.face.carry_out(task.words(), "queueing the task", stdin=task.text)

        self.face.push_screen(NewTaskBox(), added)

    def tell(self, words: str) -> None:
        self.face.tell("waits", words, is_passing=True)

    @on(LineList.Moved)
    @on(ScreenResume)
    def _went_on(self) -> None:
        if self.face.status_passes:
            self.face.tell("faint", "")


def nothing(words: str) -> Text:
    return safe(f"  {words}", "faint")
