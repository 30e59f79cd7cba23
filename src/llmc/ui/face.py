"""The program behind `llmc ui`: it follows the board, carries out what a person asks, and shows what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread

from rich.text import Text
from textual.app import App

from llmc.commands.shared.live_board import LiveBoard
from llmc.commands.shared.own_process import Answered, ask_llmc, own_command
from llmc.core.board.shapes import Board, Card
from llmc.core.display import one_line
from llmc.errors import LlmcError
from llmc.host.base import Host
from llmc.host.terminal import run_in_terminal
from llmc.root import Root
from llmc.site import Site
from llmc.ui.board_screen import BoardScreen
from llmc.ui.card_texts import safe
from llmc.ui.face_screen import FaceScreen
from llmc.ui.palette import CSS, THEME

FIRST_LOOK_SECS = 0.02
AGES_GROW_SECS = 5.0
DELIVERY_UNKNOWN = 4
MOST_EVENTS = 500


class BoardUi(App[None]):
    CSS = CSS
    TITLE = "LLMC"
    ENABLE_COMMAND_PALETTE = False
    ESCAPE_DELAY = 0.05

    def __init__(self, root: Root, host: Host, open_site: Callable[[], Site]) -> None:
        super().__init__()
        self.root, self.host, self.open_site = root, host, open_site
        self.board: Board | None = None
        self.receipts: dict[str, tuple[str, Text]] = {}
        """By worker or task: the task that the last action was about, and what came of it."""
        self.trees: dict[str, str] = {}
        """By worker, what this program has shown of its work."""
        self.events: list[dict[str, object]] = []
        """What was logged since the beginning, oldest first."""
        self.status: tuple[Text, Text | None] = (Text(""), None)
        self.status_passes = False
        self.running: dict[int, str] = {}
        """What was asked for and is not done yet."""

    def on_mount(self) -> None:
        self.register_theme(THEME)
        self.theme = THEME.name
        self.animation_level = "none"
        self.push_screen(BoardScreen())
        self.run_worker(self._follow(), name="board", exit_on_error=True)
        self.set_interval(AGES_GROW_SECS, self._ages)

    # --- the board --------------------------------------------------------------------------------------

    def card(self, key: str) -> Card | None:
        return self.board["cards"].get(key) if self.board is not None else None

    async def _follow(self) -> None:
        live = LiveBoard(self.root)
        running = asyncio.create_task(live.run())
        try:
            while live.feed.board is None:
                await asyncio.sleep(FIRST_LOOK_SECS)
                self._say_problem(live)
            async for change in live.changes():
                self.board = live.board
                if isinstance(events := change.get("events"), list):
                    self.events = [*self.events, *events][-MOST_EVENTS:]
                self._say_problem(live)
                self._board_changed()
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running

    def _say_problem(self, live: LiveBoard) -> None:
        if live.problem is not None:
            self.tell("broken", str(live.problem), live.problem.hint)

    def _board_changed(self) -> None:
        for screen in self._whole_screens():
            screen.board_changed()

    def _ages(self) -> None:
        if isinstance(self.screen, FaceScreen):
            self.screen.time_passed()

    # --- acting -----------------------------------------------------------------------------------------

    def carry_out(
        self,
        words: Sequence[str],
        doing: str,
        *,
        about: str = "",
        stdin: str = "",
        then: Callable[[Answered], None] | None = None,
    ) -> None:
        """Runs the command and shows its receipt. Nobody waits for it."""

        async def act() -> None:
            self.tell("busy", f"{doing} …")
            card = self.card(f"worker/{about}")
            task = (card["task"] or "") if card is not None else ""
            number = max(self.running, default=0) + 1
            self.running[number] = doing
            try:
                answered = await self.ask(words, stdin=stdin)
            finally:
                del self.running[number]
            self._show_receipt(answered, about, task)
            if then is not None:
                then(answered)

        self.run_worker(act(), group="actions")

    async def ask(self, words: Sequence[str], *, stdin: str = "") -> Answered:
        """In a thread that does not keep this program from ending: the command goes on by itself."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answered] = loop.create_future()

        def tell(answered: Answered) -> None:
            if not future.done():
                future.set_result(answered)

        def act() -> None:
            try:
                answered = ask_llmc(self.host, self.root, words, stdin=stdin)
            except (LlmcError, OSError) as broken:
                answered = Answered(1, None, "", str(broken), getattr(broken, "hint", ""))
            with suppress(RuntimeError):  # the program has ended meanwhile
                loop.call_soon_threadsafe(tell, answered)

        Thread(target=act, daemon=True).start()
        return await future

    def _show_receipt(self, answered: Answered, about: str, task: str) -> None:
        lines = [line for line in answered.text.split("\n") if line.strip()]
        if answered.ok:
            meaning, words, hint = "review", one_line(lines[0] if lines else "done", 400), "; ".join(lines[1:3])
        else:
            meaning = "waits" if answered.code == DELIVERY_UNKNOWN else "broken"
            words, hint = answered.error or (lines[0] if lines else f"it ended with {answered.code}"), answered.hint
        self.tell(meaning, words, hint)
        if about:
            self.receipts[about] = (task, safe(one_line(words, 400), meaning))
            self._board_changed()

    def tell(self, meaning: str, words: str, hint: str = "", *, is_passing: bool = False) -> None:
        """`is_passing`: it is gone with the next step of the person."""
        self.status_passes = is_passing
        said = safe(one_line(words, 600), meaning)
        self.status = (said, safe(one_line(hint, 600), "faint") if hint else None)
        for screen in self._whole_screens():
            screen.draw_status()

    def _whole_screens(self) -> list[FaceScreen]:
        """Not those that are taken apart: what was asked for may be answered while the program ends."""
        return [screen for screen in self.screen_stack if isinstance(screen, FaceScreen) and screen.is_whole]

    def attach(self, worker: str) -> None:
        """The person's terminal is the worker's, until they leave it."""
        from textual.app import SuspendNotSupported

        try:
            with self.suspend():
                code = run_in_terminal(own_command(self.root, "attach", worker))
        except SuspendNotSupported:
            self.tell("broken", "this terminal cannot be handed over", f"type `llmc attach {worker}` in another one")
            return
        self.refresh(layout=True)
        if code:
            self.tell("broken", f"{worker}'s terminal could not be opened", f"`llmc attach {worker}` says why")
        else:
            self.tell("faint", f"back from {worker}'s terminal")

    async def action_quit(self) -> None:
        self.exit()
