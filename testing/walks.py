"""Which functions of LLMC a command or the daemon enters, in the order in which they are entered first.

`python -m testing.walks FILE WORDS...` runs `llmc WORDS` and writes them to the file. SIGUSR1 begins the list anew, so
that what the daemon does about one thing can be told from what it did before.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType


def traced(argv: list[str]) -> tuple[int, list[str]]:
    entered: dict[CodeType, str] = {}

    def called(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code not in entered:
            entered[frame.f_code] = str(frame.f_globals.get("__name__", ""))

    signal.signal(signal.SIGUSR1, lambda *_: entered.clear())
    threading.setprofile(called)
    sys.setprofile(called)
    from llmc.cli.main import main

    code = main(argv)
    sys.setprofile(None)
    named = ((module, code.co_qualname) for code, module in list(entered.items()))
    return code, [f"{module.removeprefix('llmc.')}.{name}" for module, name in named if module.startswith("llmc.")]


def walked(listed: Path) -> list[str]:
    return listed.read_text("utf-8").splitlines()


if __name__ == "__main__":
    ended, functions = traced(sys.argv[2:])
    Path(sys.argv[1]).write_text("".join(f"{each}\n" for each in functions), "utf-8")
    sys.stdout.flush()
    os._exit(ended)  # threads of a daemon that was ended may wait for something
