"""The tasks and the merge train."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from textual import on
from textual.widget import Widget

from llmc.commands.shared.own_process import Answered
from llmc.core.display import age
from llmc.ui.card_texts import joined, safe
from llmc.ui.face_screen import FaceScreen, nothing
from llmc.ui.keys import TASK_KEYS, TRAIN_KEYS, bindings
from llmc.ui.line_list import LineList, ListLine, fixed
from llmc.ui.text_screen import AnswerScreen

STATE_STYLES = {
    "needs_you": "waits",
    "review": "review",
    "assigned": "busy",
    "working": "busy",
    "queued": "queued",
    "held": "faint",
    "failed": "broken",
    "cancelled": "quiet",
    "landed": "landing",
    "checking": "busy",
    "landing": "landing",
    "waiting": "queued",
}


class QueueScreen(FaceScreen):
    """A list that a command answers, read again whenever the board has changed."""

    ASKS: tuple[str, ...] = ()

    def __init__(self) -> None:
        super().__init__()
        self._loading = self._stale = False
        self.found: dict[str, Any] = {}

    def body(self) -> list[Widget]:
        return [LineList(id="text")]

    @property
    def lines(self) -> LineList:
        return self.query_one("#text", LineList)

    def head(self) -> Text:
        return joined(Text(" "), safe(self.NAME, "strong"), Text("  "), self.summary())

    def summary(self) -> Text:
        return Text("")

    def on_mount(self) -> None:
        self.lines.focus()
        self.lines.show([fixed(nothing("one moment …"))])
        self.load()

    def board_changed(self) -> None:
        if self.is_mounted:
            self.load()

    def load(self, answered: Answered | None = None) -> None:
        self._stale = True
        if not self._loading:
            self.run_worker(self._load())

    async def _load(self) -> None:
        self._loading = True
        try:
            while self._stale:
                self._stale = False
                answered = await self.face.ask([*self.ASKS, "--json"])
                if isinstance(answered.data, dict):
                    self.found = answered.data
                    self.lines.show(self.rows() or [fixed(nothing(self.empty()))])
                    self.draw_head()
                else:
                    self.face.tell("broken", answered.error, answered.hint)
        finally:
            self._loading = False

    def rows(self) -> list[ListLine]:
        return []

    def empty(self) -> str:
        return ""


class TasksScreen(QueueScreen):
    KEYS = TASK_KEYS
    NAME = "Tasks"
    BINDINGS = bindings(TASK_KEYS)
    ASKS = ("task", "list")

    def summary(self) -> Text:
        return safe(f"{len(self.found.get('tasks', ()))} not done yet", "faint")

    def empty(self) -> str:
        return "no task waits: n makes one"

    def rows(self) -> list[ListLine]:
        return [_task_line(each) for each in self.found["tasks"]]

    @property
    def selected(self) -> dict[str, Any] | None:
        return next((each for each in self.found.get("tasks", ()) if each["id"] == self.lines.key), None)

    def _do(self, verb: str, doing: str) -> None:
        task = self.selected
        if task is not None:
            name = str(task["id"])
            self.face.carry_out(["task", verb, name], f"{doing} {name}", about=name, then=self.load)

    def action_hold(self) -> None:
        held = self.selected is not None and self.selected["state"] == "held"
        self._do("release" if held else "hold", "releasing" if held else "holding")

    def action_cancel(self) -> None:
        self._do("cancel", "cancelling")

    def action_retry(self) -> None:
        self._do("retry", "queueing again")

    def action_graph(self) -> None:
        self.face.push_screen(AnswerScreen("What comes after what", ["task", "graph"]))

    @on(LineList.Chosen)
    def action_details(self) -> None:
        if self.selected is not None:
            self.face.push_screen(
                AnswerScreen(f"Task {self.selected['id']}", ["task", "show", str(self.selected["id"])])
            )


def _task_line(task: dict[str, Any]) -> ListLine:
    state = str(task["state"])

    def draw(width: int) -> Text:
        after = f"after {', '.join(task['after'])}" if task["after"] else ""
        why = " · ".join(filter(None, (after, str(task["reason"] or ""))))
        title = max(24, (width - 34) // 2)
        return joined(
            safe(f" {task['id']}", "strong", 6),
            safe(state.replace("_", " "), STATE_STYLES.get(state, "text"), 11),
            safe(str(task["worker"] or task["wants"]["worker"] or ""), "faint", 11),
            safe(str(task["title"]), "text", title),
            safe(f"{task['priority']:>4}" if task["priority"] else "", "waits", 5),
            safe(f" {why}", "faint"),
        )

    return ListLine(str(task["id"]), draw, True, task)


class TrainScreen(QueueScreen):
    KEYS = TRAIN_KEYS
    NAME = "Merge train"
    BINDINGS = bindings(TRAIN_KEYS)
    ASKS = ("train",)

    def summary(self) -> Text:
        if self.found.get("paused"):
            return safe("paused: p lets it go on", "waits")
        return safe(f"{len(self.found.get('entries', ()))} on their way", "faint")

    def empty(self) -> str:
        return "the merge train is empty: `llmc accept A B` or `llmc accept --queue` puts work in"

    def rows(self) -> list[ListLine]:
        rows = [_entry_line(each, f"entry/{each['worker']}") for each in self.found["entries"]]
        ended = [_entry_line(each, f"ended/{n}") for n, each in enumerate(reversed(self.found["ended"]))]
        heading = [fixed(Text("")), fixed(safe(" Landed or left lately", "faint"))] if ended else []
        return [*rows, *heading, *ended]

    def action_drop(self) -> None:
        kind, _, worker = self.lines.key.partition("/")
        if kind == "entry":
            self.face.carry_out(["train", "drop", worker], f"taking {worker} out", about=worker, then=self.load)
        else:
            self.tell("select a work that is on its way")

    def action_pause(self) -> None:
        verb = "resume" if self.found.get("paused") else "pause"
        self.face.carry_out(["train", verb], f"train: {verb}", then=self.load)


def _entry_line(entry: dict[str, Any], key: str) -> ListLine:
    def draw(width: int) -> Text:
        took = age(entry["over_at_unix"] - entry["at_unix"]) if entry["over_at_unix"] else ""
        return joined(
            safe(f" {entry['worker']}", "strong", 12),
            safe(str(entry["task"] or ""), "faint", 6),
            safe(str(entry["state"]), STATE_STYLES.get(str(entry["state"]), "text"), 12),
            safe(str(entry["detail"] or "")),
            safe(f"  {took}" if took else "", "quiet"),
        )

    return ListLine(key, draw, True, entry)
