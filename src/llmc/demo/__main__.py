"""`python -m llmc.demo`"""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from llmc.demo.program import Program
from llmc.demo.spool import Spool
from llmc.demo.terminal import is_terminal

USAGE = """usage: python -m llmc.demo [--pace SECONDS] [--no-events]

LLMC's scripted demo agent, a program for a terminal.
  --pace SECONDS  how long each step is seen before it happens (0.15; LLMC_DEMO_PACE overrides)
  --no-events     report nothing to the directory in LLMC_SPOOL
"""


class Words(NamedTuple):
    pace: float = 0.15
    events: bool = True


def main(argv: list[str]) -> int:
    if argv == ["--help"]:
        sys.stdout.write(USAGE)
        return 0
    try:
        words = read_words(argv, os.environ.get("LLMC_DEMO_PACE", ""))
    except ValueError as wrong:
        return _refused(str(wrong), "see `python -m llmc.demo --help`")
    if not is_terminal():
        return _refused("the demo agent needs a terminal", "start it in tmux, or run `llmc demo`")
    directory = os.environ.get("LLMC_SPOOL") if words.events else None
    return Program(Spool(directory, os.environ.get("LLMC_SESSION", "")), words.pace).run()


def read_words(argv: list[str], pace_override: str) -> Words:
    words = Words()
    left = iter(argv)
    for word in left:
        if word == "--no-events":
            words = words._replace(events=False)
        elif word == "--pace":
            words = words._replace(pace=_seconds(next(left, "")))
        else:
            raise ValueError(f"unknown word: {word}")
    return words._replace(pace=_seconds(pace_override)) if pace_override else words


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"the pace is a number of seconds, not {text!r}")
    return seconds


def _refused(what: str, hint: str) -> int:
    sys.stderr.write(f"error: {what}\nhint: {hint}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
