"""An agent that is slow: it takes an Enter late, and reports late, or twice.

`python -m testing.late_line FILE LATE REPORT_AFTER COPIES` is `testing/prompt_line.py`, but each Enter is taken LATE
seconds after it was read, and COPIES reports of the prompt are written REPORT_AFTER seconds after that, one after the
other. Each text that it has taken is a line of JSON in FILE.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from pathlib import Path

from testing.prompt_line import PromptLine

CLEAR = b"\x15"


class LateLine(PromptLine):
    def __init__(self, file: str, spool: str | None, late: float, report_after: float, copies: int) -> None:
        super().__init__(file, spool)
        self._late = late
        self._report_after = report_after
        self._copies = copies

    def _take(self, chunk: bytes) -> None:
        """An Enter on an empty line is nothing, and Ctrl-U empties it."""
        if CLEAR in chunk:
            self._draft.clear()
            self._show()
            return
        if not self._draft and not chunk.strip(b"\r"):
            return
        super()._take(chunk.rstrip(b"\r") + b"\r" if chunk.endswith(b"\r") else chunk)

    def _submit(self, text: bytes) -> None:
        time.sleep(self._late)
        with open(self._file, "ab") as kept:
            kept.write(json.dumps(text.decode()).encode() + b"\n")
        threading.Thread(target=self._tell, args=(hashlib.sha256(text).hexdigest(),), daemon=True).start()
        self._draft.clear()
        self._show()

    def _tell(self, sha256: str) -> None:
        for _ in range(self._copies):
            time.sleep(self._report_after)
            self._report(sha256)


def late_agent(file: Path, *, late: float = 0.0, report_after: float = 0.0, copies: float = 1) -> str:
    """This program as the agent `late` of `config.toml`."""
    # As the child of a shell: tmux lets a program of its own go on as soon as somebody stops it.
    program = [sys.executable, "-m", "testing.late_line", str(file), str(late), str(report_after), str(int(copies))]
    command = ["sh", "-c", '"$@"; exit $?', "sh", *program]
    return (
        f'\n[agents.late]\ncommand = {json.dumps(command)}\npack = "generic"\nevents = true\n'
        f"env = {{ PYTHONPATH = {json.dumps(str(Path(__file__).parents[1]))} }}\n"
    )


def taken(file: Path) -> list[str]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


if __name__ == "__main__":
    place, *manners = sys.argv[1:]
    LateLine(place, os.environ.get("LLMC_SPOOL"), float(manners[0]), float(manners[1]), int(manners[2])).run()
