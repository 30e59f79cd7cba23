"""The board in the terminal: how soon it is there, and what it costs while nothing happens."""

from __future__ import annotations

import statistics
import sys
import time

from bench.fleet import Fleet, quiet_fleet
from bench.report import Cell, Table, Verdict
from bench.watchers import cpu_seconds
from llmc.host.processes import descendants
from testing.at_face import FaceTerminal, at_face
from testing.waiting import wait_until

FIRST_SECS, REST_PERCENT = 1.5, 3.0
PATIENCE_SECS = 60.0
NOTE = (
    "In a terminal of tmux, from the start of the program until its board is drawn with every worker in it. Textual:"
    " an empty app of the library that it is made with, from its start until its text is drawn. CPU counts the program"
    " with all that it starts, while its workers are at rest."
)
EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("all is drawn")
Empty().run()
"""


def measure(workers: int = 100, tries: int = 5, secs: float = 20.0) -> list[Table]:
    with quiet_fleet(workers, patrol_secs=60) as fleet:
        empty, board = [], []
        for _ in range(tries):  # in turns
            empty.append(_empty_secs())
            board.append(_first_secs(fleet))
        percent = _at_rest(fleet, secs)
    floor, first = statistics.median(empty), statistics.median(board)
    rows: list[tuple[Cell, ...]] = [
        ("Textual, an empty app (the floor)", floor, "s", 1.0),
        (f"llmc ui, {workers} workers: the first board", first, "s", first / floor),
        ("CPU at rest", percent, "% of a core", "-"),
    ]
    verdicts = (
        Verdict("llmc ui, the first board", first, FIRST_SECS, "s"),
        Verdict("llmc ui at rest", percent, REST_PERCENT, "% of a core"),
    )
    return [Table("The board in the terminal", ("", "measured", "unit", "x floor"), rows, verdicts, NOTE)]


def _first_secs(fleet: Fleet) -> float:
    began = time.monotonic()
    with at_face(fleet.site.root.path) as face:
        _until_drawn(face, fleet)
        return time.monotonic() - began


def _until_drawn(face: FaceTerminal, fleet: Fleet) -> None:
    wait_until(lambda: f"Idle  {len(fleet.names)}" in face.look(), PATIENCE_SECS)


def _empty_secs() -> float:
    terminal = FaceTerminal("face-bench")
    began = time.monotonic()
    terminal.tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "36", sys.executable, "-c", EMPTY)
    try:
        wait_until(lambda: "all is drawn" in terminal.look(), PATIENCE_SECS)
        return time.monotonic() - began
    finally:
        terminal.tmux("kill-server")


def _at_rest(fleet: Fleet, secs: float) -> float:
    with at_face(fleet.site.root.path) as face:
        _until_drawn(face, fleet)
        shell = int(face.tmux("display-message", "-p", "#{pane_pid}"))
        pids = [shell, *descendants(shell)]
        time.sleep(secs / 4)  # what comes after the first drawing is over
        before, began = sum(map(cpu_seconds, pids)), time.monotonic()
        time.sleep(secs)
        return (sum(map(cpu_seconds, pids)) - before) / (time.monotonic() - began) * 100
