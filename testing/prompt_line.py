"""The least of an agent: a raw terminal, one input line, a report for each prompt. What it is sent, it keeps.

`python -m testing.prompt_line FILE` appends each submitted text to FILE, reports it into $LLMC_SPOOL where there is
one, and writes a line of monotonic times to FILE.times: they tell what of a delivery was the receiver's own time.
A command that is typed (`/clear`) opens a menu, which takes the first Enter for itself; it goes to FILE.commands.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import tty
from dataclasses import asdict, dataclass
from pathlib import Path

from testing.receiver import ASK_FOR_BRACKETS, CHUNK, PASTE_BEGINS, PASTE_ENDS

TAIL = 60
"""So much of the end of the text is shown: enough to recognise it by."""


@dataclass(slots=True)
class Times:
    """Of one prompt, on the clock that all programs of a machine share."""

    read: float = 0.0
    """When the text was complete."""
    shown: float = 0.0
    entered: float = 0.0
    """When the Enter was read."""
    reported: float = 0.0

    @property
    def own(self) -> float:
        """What the receiver itself took."""
        return max(0.0, self.shown - self.read) + (self.reported - self.entered)


def read_times(file: Path | str) -> list[Times]:
    path = Path(f"{file}.times")
    return [Times(**json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def commands_typed(file: Path | str) -> list[str]:
    path = Path(f"{file}.commands")
    return path.read_text().splitlines() if path.exists() else []


class PromptLine:
    def __init__(self, file: str, spool: str | None) -> None:
        self._file = file
        self._spool = spool
        self._draft = bytearray()
        self._times = Times()
        self._count = 0
        self._menu_open = True

    def run(self) -> None:
        tty.setraw(0)
        os.write(1, ASK_FOR_BRACKETS)
        self._show()
        while chunk := os.read(0, CHUNK):
            self._take(chunk)

    def _take(self, chunk: bytes) -> None:
        self._draft += chunk
        pasting = self._draft.startswith(PASTE_BEGINS)
        if pasting and PASTE_ENDS not in self._draft[-CHUNK - len(PASTE_ENDS) :]:
            return
        now = time.monotonic()
        if self._draft.startswith(b"/") and self._draft.endswith(b"\r"):
            self._take_command(self._draft.removesuffix(b"\r"))
        elif self._draft.endswith(b"\r"):
            self._times.entered = now
            self._submit(bytes(self._draft[:-1]).removeprefix(PASTE_BEGINS).removesuffix(PASTE_ENDS))
        else:
            self._times.read = now
            self._show()
            self._times.shown = time.monotonic()

    def _take_command(self, typed: bytearray) -> None:
        if self._menu_open:
            self._draft = typed
        else:
            with open(f"{self._file}.commands", "ab") as kept:
                kept.write(typed + b"\n")
            self._draft.clear()
        self._menu_open = not self._menu_open
        self._show()

    def _submit(self, text: bytes) -> None:
        with open(self._file, "ab") as kept:
            kept.write(text)
        self._report(hashlib.sha256(text).hexdigest())
        self._times.reported = time.monotonic()
        with open(f"{self._file}.times", "a", encoding="utf-8") as times:
            times.write(json.dumps(asdict(self._times)) + "\n")
        self._draft.clear()
        self._times = Times()
        self._show()

    def _report(self, sha256: str) -> None:
        if self._spool is None:
            return
        self._count += 1
        name = f"{time.time_ns()}-{self._count}"
        unfinished = Path(self._spool, f".{name}")
        unfinished.write_text(json.dumps({"event": "prompt", "sha256": sha256}))
        unfinished.rename(Path(self._spool, f"{name}.json"))

    def _show(self) -> None:
        text = bytes(self._draft[-4 * TAIL :]).removesuffix(PASTE_ENDS).decode("utf-8", "ignore")
        os.write(1, f"\r\x1b[2K> {' '.join(text.split())[-TAIL:]}".encode())


def agent_table(name: str, file: Path | str, *, events: bool = True, clear: str = "") -> str:
    """This program as an agent of `config.toml`."""
    command = json.dumps([sys.executable, "-m", "testing.prompt_line", str(file)])
    return (
        f'\n[agents.{name}]\ncommand = {command}\npack = "generic"\nevents = {json.dumps(events)}\n'
        f"clear = {json.dumps(clear)}\n"
        f"env = {{ PYTHONPATH = {json.dumps(str(Path(__file__).parents[1]))} }}\n"
    )


if __name__ == "__main__":
    PromptLine(sys.argv[1], os.environ.get("LLMC_SPOOL")).run()
