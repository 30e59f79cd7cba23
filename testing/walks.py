"""Which functions of LLMC a command or the daemon enters, one after the other.

`python -m testing.walks FILE WORDS...` runs `llmc WORDS` and writes them to the file. SIGUSR1 begins the list anew, so
that what the daemon does about one thing can be told from what it did before.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType


def traced(argv: list[str]) -> tuple[int, list[str]]:
    entered: list[str] = []

    def called(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            module = str(frame.f_globals.get("__name__", ""))
            if module.startswith("llmc."):
                entered.append(f"{module.removeprefix('llmc.')}.{frame.f_code.co_qualname}")

    signal.signal(signal.SIGUSR1, lambda *_: entered.clear())
    threading.setprofile(called)
    sys.setprofile(called)
    from llmc.cli.main import main

    code = main(argv)
    sys.setprofile(None)
    return code, list(entered)


def left_out(steps: list[str], walk: list[str]) -> list[str]:
    """The first step that was not taken after those before it, and all that follow; empty when all of them were."""
    rest = iter(walk)
    return next((steps[number:] for number, step in enumerate(steps) if step not in rest), [])


if __name__ == "__main__":
    ended, functions = traced(sys.argv[2:])
    Path(sys.argv[1]).write_text("".join(f"{each}\n" for each in functions), "utf-8")
    sys.stdout.flush()
    os._exit(ended)  # threads of a daemon that was ended may wait for something
