"""An agent as somebody writes it in ten minutes: it reads lines from a plain terminal, and draws nothing.

`python -m testing.line_reader FILE [--prompt WORDS] [--silent | --only-start] [--after FILE]` appends each line to FILE
and reports it into $LLMC_SPOOL; it reads the first one when that other file is there. A line that begins with `commit`
makes one, and `permit COMMAND` waits for a line with the answer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

PAUSE_SECS = 0.01


class LineReader:
    def __init__(self, words: argparse.Namespace) -> None:
        self._file: str = words.file
        self._prompt: str = words.prompt
        self._only_start: bool = words.only_start
        self._after: str = words.after
        self._spool = None if words.silent else os.environ.get("LLMC_SPOOL")

    def run(self) -> None:
        self._report(event="session_start")
        if self._only_start:
            self._spool = None
        sys.stdout.write(f"at your service\n{self._prompt}")
        sys.stdout.flush()
        while self._after and not os.path.exists(self._after):
            time.sleep(PAUSE_SECS)
        while self._has_line():
            sys.stdout.write(self._prompt)

    def _has_line(self) -> bool:
        line = self._next_line()
        if line.strip():
            self._report(event="prompt", text=line.rstrip("\n"))
            self._work(line.strip())
            self._report(event="turn_end")
        return bool(line)

    def _next_line(self) -> str:
        sys.stdout.flush()
        line = sys.stdin.readline()
        with open(self._file, "a", encoding="utf-8") as kept:
            kept.write(line)
        return line

    def _work(self, line: str) -> None:
        verb, _, rest = line.partition(" ")
        if verb == "commit":
            Path("made.txt").write_text(rest)
            subprocess.run(["git", "add", "--all"], check=True)
            subprocess.run(["git", "commit", "--quiet", "-m", rest], check=True)
        elif verb == "permit":
            self._report(event="permission", tool="shell", command=rest)
            sys.stdout.write(f"may I {rest}?\n")
            sys.stdout.write(f"so you say {self._next_line()}")

    def _report(self, **event: str) -> None:
        if self._spool is None:
            return
        name = str(time.time_ns())
        unfinished = Path(self._spool, f".{name}")
        unfinished.write_text(json.dumps(event))
        unfinished.rename(Path(self._spool, f"{name}.json"))


def agent_table(name: str, file: Path | str, *options: str, events: bool = True) -> str:
    """This program as an agent of `config.toml`; how its screen looks, nobody says."""
    words = [sys.executable, "-m", "testing.line_reader", str(file), *options]
    return (
        f"\n[agents.{name}]\ncommand = {json.dumps(words)}\nevents = {json.dumps(events)}\n"
        f"env = {{ PYTHONPATH = {json.dumps(str(Path(__file__).parents[1]))} }}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--prompt", default="")
    parser.add_argument("--silent", action="store_true")
    parser.add_argument("--after", default="")
    parser.add_argument("--only-start", action="store_true")
    LineReader(parser.parse_args()).run()


if __name__ == "__main__":
    main()
