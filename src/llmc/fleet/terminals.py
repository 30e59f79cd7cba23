"""At the hub: a terminal of another machine, for the faces. Its rows are made harmless here, whatever was sent."""

from __future__ import annotations

import base64
from typing import Any

from llmc.core.screen.drawn_rows import drawn_rows
from llmc.core.screen.frames import TerminalFrame
from llmc.errors import LlmcError
from llmc.fleet.calls import Calls
from llmc.fleet.known import machine_of
from llmc.fleet.registry import has_machines
from llmc.fleet.shapes import RAW, shaped
from llmc.site import Site

WAITS_SECS = 5.0
"""A look that shows nothing new is answered after this; so long may somebody who left keep a connection."""
SLACK_SECS = 15.0
MOST_ROWS, MOST_COLUMNS = 1000, 2000
_FRAME = {
    "rows": [RAW],
    "above": [RAW],
    "width": 0,
    "height": 0,
    "cursor": [0],
    "cursor_shown": False,
    "scrolled": 0,
    "dead": False,
    "title": "",
}


class TerminalElsewhere:
    """One question at a time; each may take a while."""

    def __init__(self, site: Site, machine: str, worker: str) -> None:
        self._calls = Calls(site)
        self._machine, self._worker = machine, worker
        self._seen = ""

    def look(self, above: int = 0) -> TerminalFrame | None:
        """What it shows, as soon as that is another than last time. None when nothing is new.

        Raises LlmcError where there is none.
        """
        order = {"op": "terminal", "worker": self._worker, "seen": self._seen, "wait_secs": WAITS_SECS, "above": above}
        said = self._calls.ask(self._machine, order, WAITS_SECS + SLACK_SECS)
        seen, before = shaped(said.get("seen"), ""), self._seen
        self._seen = seen
        if seen == "none":
            raise LlmcError(f"{self._worker} has no terminal now", f"`llmc explain {self._worker}` says why")
        if seen == before or not isinstance(said.get("frame"), dict):
            return None
        return _frame(said["frame"])

    def look_anew(self) -> None:
        """The next look shows it whole."""
        self._seen = ""

    def type(self, data: bytes) -> None:
        self._touch(bytes=base64.b64encode(data).decode())

    def paste(self, data: bytes) -> None:
        self._touch(paste=base64.b64encode(data).decode())

    def press(self, key: str) -> None:
        self._touch(key=key)

    def resize(self, columns: int, rows: int) -> None:
        self._touch(size=[columns, rows])

    def give_size_back(self) -> None:
        self._touch(own_size=True)

    def close(self) -> None:
        self._calls.__exit__(None, None, None)

    def _touch(self, **wish: Any) -> None:  # noqa: ANN401 - as the wire has it
        order = {"op": "terminal", "worker": self._worker, "touch": wish}
        said = shaped(self._calls.ask(self._machine, order, SLACK_SECS), {"code": 0, "error": "", "hint": ""})
        if said["code"]:
            raise LlmcError(said["error"], said["hint"])


def terminal_elsewhere(site: Site, worker: str) -> TerminalElsewhere | None:
    """None where the worker is on no other machine."""
    if not has_machines(site.root) or worker in site.ledger.load().workers:
        return None
    found = machine_of(site.root, worker)
    return TerminalElsewhere(site, *found) if found is not None else None


def _frame(said: dict[str, Any]) -> TerminalFrame:
    known = shaped(said, _FRAME)
    width, height = (max(1, min(known[side], most)) for side, most in (("width", MOST_COLUMNS), ("height", MOST_ROWS)))
    rows, above = (drawn_rows("\n".join(row.replace("\n", " ") for row in known[name])) for name in ("rows", "above"))
    x, y = (*known["cursor"], 0, 0)[:2]
    at = (max(0, min(x, width - 1)), max(0, min(y, height - 1)))
    more = (known["cursor_shown"], max(0, known["scrolled"]), known["dead"], known["title"])
    return TerminalFrame(rows[:height], width, height, at, *more, above if known["above"] else ())
