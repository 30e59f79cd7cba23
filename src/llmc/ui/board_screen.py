"""The board: everybody by the person's next act, the selected terminal live, and all that is known of it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.text import Text
from textual import on
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input

from llmc.core.board.shapes import Card, Column
from llmc.core.screen.frames import TerminalFrame
from llmc.ui.boxes import TextBox
from llmc.ui.card_texts import asked_lines, card_details, card_row, head_text, heading, matches, shown_age
from llmc.ui.face_screen import FaceScreen, nothing
from llmc.ui.keys import BOARD_KEYS, bindings
from llmc.ui.line_list import Drawn, LineList, ListLine, fixed
from llmc.ui.live_terminal import LiveTerminal, TerminalView

WIDE = 110
"""Columns from which the terminal has room beside the list."""
LOW = 30
WAITING_COLUMNS = ("needs_you", "review")


class BoardScreen(FaceScreen):
    KEYS = BOARD_KEYS
    NAME = "The board"
    BINDINGS = bindings(BOARD_KEYS)

    def __init__(self) -> None:
        super().__init__()
        self._only_waiting = False
        self._search = ""
        self._live: LiveTerminal | None = None
        self._ages: list[str] = []
        self._is_leaving = False

    def body(self) -> list[Widget]:
        search = Input(id="search", placeholder="worker, task or words", compact=True)
        search.cursor_blink = False
        side = Vertical(TerminalView(id="terminal"), Drawn(id="card"), id="side")
        return [Horizontal(LineList(id="list"), side, id="body"), Drawn(id="below"), search]

    def on_mount(self) -> None:
        self._live = LiveTerminal(self.face.open_site, self._show_terminal)
        self.run_worker(self._live.run(), name="terminal")
        self._lines.focus()
        self._lines.show([fixed(nothing("reading the board …"))])

    @property
    def _lines(self) -> LineList:
        return self.query_one("#list", LineList)

    @property
    def card(self) -> Card | None:
        return self.face.card(self._lines.key)

    # --- drawing ----------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self.set_class(self.size.width >= WIDE, "wide")
        self.set_class(self.size.height < LOW, "low")
        self.redraw()
        self._follow_selected()
        self.call_after_refresh(self._draw_card)

    def redraw(self) -> None:
        super().redraw()
        self._draw_list()
        self._draw_card()

    def board_changed(self) -> None:
        if self.is_mounted:
            self.draw_head()
            self._draw_list()
            self._draw_card()
            self.draw_keys()
            self._follow_selected()

    def time_passed(self) -> None:
        cards = self.face.board["cards"].values() if self.face.board is not None else ()
        ages = [shown_age(card, time.time()) for card in cards]
        if ages != self._ages:
            self._ages = ages
            self._lines.refresh()
            self._draw_card()

    def head(self) -> Text:
        return head_text(self.face.board, self.size.width, only_waiting=self._only_waiting, search=self._search)

    def offered(self) -> set[str]:
        card = self.card
        offered = {action["name"] for action in card["actions"]} if card is not None else set()
        return offered | ({"text"} if offered & {"answer", "message", "start"} else set())

    def _draw_list(self) -> None:
        board = self.face.board
        if board is None:
            return
        lines: list[ListLine] = []
        for column in board["columns"]:
            if self._only_waiting and column["name"] not in WAITING_COLUMNS:
                continue
            cards = [card for key in column["keys"] if matches(card := board["cards"][key], self._search)]
            if cards:
                lines += [fixed(Text(""))] if lines else []
                lines.append(_heading_line(column, len(cards)))
                lines += map(_card_line, cards)
        if not any(line.can_select for line in lines):
            lines = [fixed(nothing(self._why_empty()))]
        self._lines.show(lines)

    def _why_empty(self) -> str:
        if self._search:
            return f"nothing has {self._search!r} in it: Esc shows all"
        if self._only_waiting:
            return "nobody waits for you: w shows all"
        return "no workers yet: `llmc add NAME`, then `llmc up --detach`"

    def _draw_card(self) -> None:
        place = self.query_one("#card" if self.has_class("wide") else "#below", Drawn)
        card = self.card
        if card is None:
            place.show()
            return
        task, receipt = self.face.receipts.get(card["worker"] or card["task"] or "", ("", None))
        if task and card["task"] and task != card["task"]:
            receipt = None  # "accepted" below the next task would be taken for that of this task
        lines = card_details(card, time.time(), max(20, place.size.width or self.size.width - 4), receipt)
        if self.has_class("wide"):
            place.styles.height = min(len(lines), max(6, self.size.height // 2 - 2)) + 1
        place.show(*lines)

    def _show_terminal(self, frame: TerminalFrame | None, words: str) -> None:
        self.query_one("#terminal", TerminalView).show(frame, words)

    def _follow_selected(self) -> None:
        """Nobody where there is no room to show it: then nothing is captured either."""
        card = self.card
        if self._live is not None:
            self._live.follow((card["worker"] or "") if card is not None and self.has_class("wide") else "")

    @on(LineList.Moved)
    def _moved(self) -> None:
        self._draw_card()
        self.draw_keys()
        self._follow_selected()

    @on(LineList.Chosen)
    def _chosen(self) -> None:
        self.action_attach()

    # --- acting -----------------------------------------------------------------------------------------

    def _can(self, action: str) -> Card | None:
        """The selected card, if it offers that now; else the person is told."""
        card = self.card
        if card is None:
            self.tell("nothing is selected")
        elif action not in self.offered():
            self.tell(_not_offered(card, action))
        else:
            return card
        return None

    def _worker(self, action: str) -> str:
        card = self._can(action)
        return (card["worker"] or "") if card is not None else ""

    def action_answer(self, number: int) -> None:
        card = self._can("answer")
        asked = card["asked"] if card is not None else None
        if card is None or asked is None:
            return
        if number > len(asked["options"]):
            self.tell(f"{card['worker']}'s dialog has no option {number}" if asked["options"] else _SPACE_OR_ENTER)
            return
        self._answer(card, str(number), f"answering {card['worker']} with {asked['options'][number - 1]}")

    def _answer(self, card: Card, choice: str, doing: str) -> None:
        """Only to the dialog that this screen shows."""
        worker, asked = card["worker"] or "", card["asked"]
        if asked is None or asked["id"] is None:
            self.tell(_SPACE_OR_ENTER)
            return
        self.face.carry_out(["answer", "--dialog", asked["id"], "--", worker, choice], doing, about=worker)

    def action_attach(self) -> None:
        card = self.card
        if card is not None and card["kind"] == "task":
            self.action_explain()
        elif worker := self._worker("attach"):
            self.face.attach(worker)
            self._follow_selected()

    def action_prompt(self) -> None:
        card = self.card
        if card is not None and card["asked"]:
            self._ask_text(card, f"Your own answer to {card['worker']}", asked_lines(card, 80))
        elif "start" in self.offered() and card is not None:
            self._ask_text(card, f"A task for {card['worker']}", [])
        elif (able := self._can("message")) is not None:
            self._ask_text(able, f"To {able['worker']}", [])

    def _ask_text(self, card: Card, title: str, quoted: Sequence[Text]) -> None:
        worker = card["worker"] or ""

        def send(text: str | None) -> None:
            if text is None:
                return
            if card["asked"]:
                self._answer(card, text, f"answering {worker}")
                return
            words = ["start", "--worker", worker, "-"] if card["state"] == "idle" else ["message", worker, "-"]
            self.face.carry_out(words, f"sending it to {worker}", about=worker, stdin=text)

        self.face.push_screen(TextBox(title, quoted), send)

    def action_review(self) -> None:
        worker = self._worker("review")
        if worker:
            from llmc.ui.review_screen import ReviewScreen

            self.face.push_screen(ReviewScreen(worker))

    action_comment = action_review

    def action_accept(self) -> None:
        worker = self._worker("accept")
        tree = self.face.trees.get(worker)
        if worker and tree is None:
            self.face.tell("faint", f"this is {worker}'s work: a accepts it, x sends it back")
            self.action_review()
        elif worker and tree is not None:
            self.face.carry_out(["accept", worker, "--tree", tree], f"accepting {worker}'s work", about=worker)

    def action_reject(self) -> None:
        worker = self._worker("reject")
        if worker:
            send_back(self, worker)

    def action_release(self) -> None:
        card = self._can("release")
        if card is not None and card["task"]:
            about = card["worker"] or card["task"]
            self.face.carry_out(["task", "release", card["task"]], f"releasing {card['task']}", about=about)

    def action_interrupt(self) -> None:
        worker = self._worker("interrupt")
        if worker:
            self.face.carry_out(["interrupt", worker], f"interrupting {worker}", about=worker)

    def action_restart(self) -> None:
        worker = self._worker("restart")
        if worker:
            self.face.carry_out(["restart", worker, "--yes"], f"restarting {worker}", about=worker)

    def action_explain(self) -> None:
        from llmc.ui.text_screen import AnswerScreen

        card = self.card
        if card is not None and card["worker"]:
            self.face.push_screen(AnswerScreen(f"Why {card['worker']} is where it is", ["explain", card["worker"]]))
        elif card is not None and card["task"]:
            self.face.push_screen(AnswerScreen(f"Task {card['task']}", ["task", "show", card["task"]]))

    # --- which cards ------------------------------------------------------------------------------------

    def action_only_waiting(self) -> None:
        self._only_waiting = not self._only_waiting
        self.board_changed()

    def action_search(self) -> None:
        search = self.query_one("#search", Input)
        search.add_class("open")
        search.focus()

    def action_show_all(self) -> None:
        self.query_one("#search", Input).value = ""
        self._only_waiting = False
        self._leave_search()

    def _leave_search(self) -> None:
        self.query_one("#search", Input).remove_class("open")
        self._lines.focus()
        self.board_changed()

    @on(Input.Changed, "#search")
    def _searched(self, event: Input.Changed) -> None:
        self._search = event.value.strip()
        self.draw_head()
        self._draw_list()

    @on(Input.Submitted, "#search")
    def _search_done(self) -> None:
        self._leave_search()

    # --- other screens ----------------------------------------------------------------------------------

    def action_tasks(self) -> None:
        from llmc.ui.queue_screens import TasksScreen

        self.face.push_screen(TasksScreen())

    def action_train(self) -> None:
        from llmc.ui.queue_screens import TrainScreen

        self.face.push_screen(TrainScreen())

    def action_events(self) -> None:
        from llmc.ui.text_screen import EventsScreen

        self.face.push_screen(EventsScreen())

    def action_quit_ui(self) -> None:
        under_way = list(self.face.running.values())
        if under_way and not self._is_leaving:
            self._is_leaving = True
            self.tell(f"{under_way[0]} still runs, and goes on without this screen: q again quits")
        else:
            self.face.exit()


def _not_offered(card: Card, action: str) -> str:
    who = card["worker"] or card["task"]
    if action == "answer" and card["state"] == "needs_input":
        return f"no open dialog of {who} is known: Enter opens the terminal, Space sends a text"
    return f"{who} (status: {card['status'].replace('_', ' ')}): there is nothing to {action} now"


_SPACE_OR_ENTER = "this dialog has no numbered options: Enter opens the terminal, Space answers in your own words"


def send_back(screen: FaceScreen, worker: str, comments: int = 0) -> None:
    """One round: the open comments, as many as are known here, and what the person writes."""
    along = f", with {comments} comment{'' if comments == 1 else 's'}" if comments else ""

    def send(text: str | None) -> None:
        if text is None:
            return
        words = ["reject", worker, "--file", "-"] if text.strip() else ["reject", worker]
        screen.face.trees.pop(worker, None)
        screen.face.carry_out(words, f"sending {worker}'s work back", about=worker, stdin=text)
        if screen.NAME == "Review":
            screen.action_back()

    screen.face.push_screen(TextBox(f"Send {worker}'s work back{along}", may_be_empty=comments > 0), send)


def _card_line(card: Card) -> ListLine:
    return ListLine(card["key"], lambda width: card_row(card, time.time(), width), True, card)


def _heading_line(column: Column, count: int) -> ListLine:
    return ListLine(f"/{column['name']}", lambda width: heading(column, count, width), False, count)
