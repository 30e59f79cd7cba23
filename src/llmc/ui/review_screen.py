"""The review of one worker's work: files, diff, comments on lines, accept and send back.

What is accepted is the tree that is shown here, and comments are on its lines: both are bound to what was seen.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from rich.text import Text
from textual import on
from textual.containers import Horizontal
from textual.widget import Widget

from llmc.commands.shared.own_process import Answered
from llmc.core.display import plain
from llmc.ui.board_screen import send_back
from llmc.ui.boxes import TextBox
from llmc.ui.card_texts import joined, safe
from llmc.ui.face_screen import FaceScreen, nothing
from llmc.ui.keys import REVIEW_KEYS, bindings
from llmc.ui.line_list import Drawn, LineList, fixed
from llmc.ui.review_lines import DiffLine, diff_lines, fact_texts, file_lines, lines_for, place_in
from llmc.ui.text_screen import TextScreen, texts_of

NARROW, SIDE_BY_SIDE = 90, 160
"""Columns below which the files are not shown, and from which both sides are at first."""


class ReviewScreen(FaceScreen):
    KEYS = REVIEW_KEYS
    NAME = "Review"
    BINDINGS = bindings(REVIEW_KEYS)

    def __init__(self, worker: str) -> None:
        super().__init__()
        self._worker = worker
        self._all: dict[str, Any] | None = None
        self._since: Answered | None = None
        self._wants_since = False
        self._beside: bool | None = None
        self._shift = 0
        self._rows: list[DiffLine] = []
        self._stamp: object = None
        """What the board said of the work when it was loaded."""
        self._seen = asyncio.Event()

    def body(self) -> list[Widget]:
        return [Drawn(id="facts"), Horizontal(LineList(id="files"), LineList(id="diff", classes="range"), id="body")]

    def on_mount(self) -> None:
        self._diff.focus()
        self._diff.show([fixed(nothing("reading the work …"))])
        self.action_load()

    @property
    def _diff(self) -> LineList:
        return self.query_one("#diff", LineList)

    @property
    def _document(self) -> dict[str, Any] | None:
        """What is shown."""
        if self._wants_since and self._since is not None and self._since.ok:
            found = self._since.data
            return found if isinstance(found, dict) else None
        return self._all

    # --- loading ----------------------------------------------------------------------------------------

    def action_load(self) -> None:
        self.run_worker(self._load(), group="load", exclusive=True)

    async def _load(self) -> None:
        self._seen.clear()
        card = self.face.card(f"worker/{self._worker}")
        self._stamp = _stamp_of(card)
        look = ("review", self._worker, "--peek", "--json")
        answered = await self.face.ask(look)
        if not answered.ok or not isinstance(answered.data, dict):
            self.face.tell("broken", answered.error, answered.hint)
            self._diff.show([fixed(nothing("there is nothing to show"))])
            return
        self._all, tree = answered.data, str(answered.data["tree"])
        # Before this look counts as a review: afterwards nothing would have changed since the last one.
        self._since = None
        self._show()
        self._since = await self.face.ask((*look, "--since-last"))
        if tree:
            await self._record(tree)
        self._show()
        self._seen.set()

    async def _record(self, tree: str) -> None:
        seen = await self.face.ask(("review", self._worker, "--seen", tree, "--json"))
        if seen.ok:
            self.face.trees[self._worker] = tree
        else:
            self.face.tell("waits", seen.error, f"{seen.hint}: R loads it again")

    def board_changed(self) -> None:
        super().board_changed()
        now = _stamp_of(self.face.card(f"worker/{self._worker}"))
        if self._all is not None and self._stamp is not None and now != self._stamp and self.is_current:
            self._stamp = now
            self.face.tell("waits", f"{self._worker}'s work has changed since it was loaded: R loads it again")

    # --- drawing ----------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self.set_class(self.size.width < NARROW, "narrow")
        self.redraw()
        if self._all is not None:
            self._show()

    def head(self) -> Text:
        return joined(safe(" Review  ", "faint"), safe(self._worker, "strong"))

    @property
    def _is_beside(self) -> bool:
        return self.size.width >= SIDE_BY_SIDE if self._beside is None else self._beside

    def _show(self) -> None:
        if self._wants_since and self._since is not None and not self._since.ok:
            self._wants_since = False
            self.face.tell("waits", self._since.error, self._since.hint)
        document = self._document
        if document is None:
            return
        facts = self.query_one("#facts", Drawn)
        texts = fact_texts(document, self.size.width, time.time())[: max(2, self.size.height // 5)]
        facts.styles.height = len(texts) + 1
        facts.show(*texts)
        self._rows = diff_lines(document, side_by_side=self._is_beside)
        empty = "nothing has changed since then" if document["since"] else "there are no changes"
        self._diff.show(lines_for(self._rows, self._shift) or [fixed(nothing(empty))])
        self.query_one("#files", LineList).show(file_lines(document))

    @on(LineList.Moved, "#files")
    def _file_chosen(self, event: LineList.Moved) -> None:
        if event.lines.has_focus:
            self._diff.go_to(event.lines.key)

    def action_other_pane(self) -> None:
        files = self.query_one("#files", LineList)
        (self._diff if files.has_focus or self.has_class("narrow") else files).focus()

    def action_side_by_side(self) -> None:
        self._beside = not self._is_beside
        self._show()

    def action_shift(self, by: int) -> None:
        self._shift = max(0, self._shift + by)
        self._diff.show(lines_for(self._rows, self._shift))

    def action_since_last(self) -> None:
        self._wants_since = not self._wants_since
        if self._since is None and self._wants_since:
            self.tell("one moment: what has changed is being read")
        self._show()

    def action_file(self, by: int) -> None:
        headings = [n for n, row in enumerate(self._rows) if row.key.startswith("file/")]
        at = self._diff.at
        wanted = [n for n in headings if (n > at if by > 0 else n < at)]
        if wanted:
            self._diff.go_to(self._rows[wanted[0] if by > 0 else wanted[-1]].key)

    def action_checks(self) -> None:
        results = self._document["checks"]["results"] if self._document is not None else []
        if not results:
            self.tell("the checks have not run on this work yet: they run when it is accepted")
            return
        texts: list[Text] = []
        for each in results:
            passed = bool(each["passed"])
            words = f"{'✓' if passed else '✗'} {each['command']}  {each['secs']:.1f}s {each['problem']}"
            texts += [safe(words, "review" if passed else "broken"), *texts_of(plain(str(each["output"]))), Text("")]
        self.face.push_screen(TextScreen(f"Checks of {self._worker}'s work", texts))

    # --- ranges and comments ----------------------------------------------------------------------------

    def action_mark(self) -> None:
        self._diff.range_from = self._diff.at if self._diff.range_from is None else None
        self._diff.refresh()

    def action_extend(self, by: int) -> None:
        if self._diff.range_from is None:
            self._diff.range_from = self._diff.at
        self._diff.action_move(by)

    def action_comment(self) -> None:
        at = self._diff.at
        anchor = at if self._diff.range_from is None else self._diff.range_from
        first, last = min(at, anchor), max(at, anchor)
        place = place_in(self._rows, first, last)
        if isinstance(place, str):
            self.tell(place)
            return
        path, lines = place
        quoted = [safe(row.quote, "faint") for row in self._rows[first : last + 1] if row.new_no is not None]

        def commented(text: str | None) -> None:
            if text is not None:
                self.run_worker(self._comment(f"{path}:{lines}", text))

        self.face.push_screen(TextBox(f"Comment on {path}:{lines}", quoted), commented)

    async def _comment(self, place: str, text: str) -> None:
        self._diff.range_from = None
        await self._seen.wait()  # else the lines would be those of an earlier look
        words = ["comment", "--", self._worker, place, "-"]  # a file may be named like an option
        self.face.carry_out(words, f"commenting on {place}", about=self._worker, stdin=text, then=self._commented)

    def action_remove_comment(self) -> None:
        number = self._rows[self._diff.at].comment if 0 <= self._diff.at < len(self._rows) else None
        if number is None:
            self.tell("the cursor is not on an open comment")
            return
        words = ["comment", self._worker, "--remove", str(number)]
        self.face.carry_out(words, f"taking back comment {number}", about=self._worker, then=self._commented)

    def _commented(self, answered: Answered) -> None:
        if answered.ok:
            self.action_load()

    # --- the end ----------------------------------------------------------------------------------------

    def action_accept(self) -> None:
        tree = self.face.trees.get(self._worker)
        if not self._seen.is_set() or self._all is None or tree is None or tree != self._all["tree"]:
            self.tell(
                "one moment: what is shown is being noted" if not self._seen.is_set() else "R loads it again first"
            )
            return
        words = ["accept", self._worker, "--tree", tree]
        self.face.carry_out(words, f"accepting {self._worker}'s work", about=self._worker, then=self._accepted)

    def _accepted(self, answered: Answered) -> None:
        if answered.ok:
            self.face.trees.pop(self._worker, None)
            if self.is_current:
                self.action_back()

    def action_reject(self) -> None:
        comments = self._all["comments"] if self._all is not None else ()
        send_back(self, self._worker, sum(each["round"] is None for each in comments))


def _stamp_of(card: Any) -> object:  # noqa: ANN401 - a card, or none
    return (card["does"], card["state"]) if card is not None else None
