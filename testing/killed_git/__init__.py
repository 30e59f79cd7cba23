"""A `git` that dies when it is told to: the first on the path of whatever is tried, and else the real one.

Each call is logged. An order names the call by its number or by a word of it, and the moment at which SIGKILL comes:
`start` before git does anything, `middle` when it has changed some files, `end` when it has done everything and only
its exit code is missing, `cut` in the middle and together with the program that called it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

KILLER = Path(__file__).with_name("killer.py")
ANY = "any"
# A shell starts in a millisecond; Python, which takes thirty, is only asked to kill.
SCRIPT = """\
#!/bin/sh
printf '%s\\n' "$(printf '%s ' "$@" | tr '\\n' ' ')" >>{log}
if [ -s {order} ] && read -r which moment changes <{order}; then
    case " $* " in *" $which "*) its=yes ;; *) its= ;; esac
    [ "$which" = any ] || [ "$which" = "$(wc -l <{log})" ] && its=yes
    [ -n "$its" ] && mv {order} {taken} 2>/dev/null && echo "$*" >{taken} &&
        exec {python} -I {killer} "$moment" "$changes" {outcome} {git} "$@"
fi
exec {git} "$@"
"""


class Moment(StrEnum):
    START = "start"
    MIDDLE = "middle"
    END = "end"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class KilledGit:
    """`directory` is where the program and its orders are."""

    directory: Path

    def install(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        real = shutil.which("git")
        assert real is not None, "git is not installed"
        files = {name: self.directory / name for name in ("log", "order", "taken", "outcome")}
        values = {**files, "python": sys.executable, "killer": KILLER, "git": real}
        self.program.write_text(SCRIPT.format(**{name: shlex.quote(str(value)) for name, value in values.items()}))
        self.program.chmod(0o755)

    @property
    def program(self) -> Path:
        return self.directory / "git"

    @property
    def path(self) -> str:
        """For the variable PATH."""
        return f"{self.directory}{os.pathsep}{os.environ['PATH']}"

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """By this process and all that it starts."""
        before = os.environ["PATH"]
        os.environ["PATH"] = self.path
        try:
            yield
        finally:
            os.environ["PATH"] = before

    def calls(self) -> list[str]:
        log = self.directory / "log"
        return log.read_text(errors="replace").splitlines() if log.exists() else []

    def kill(self, which: int | str, moment: Moment, changes: int = 1) -> None:
        """The call of that number, from 1; or the next one that has this word; or `any`.

        Its middle is where it has changed that many files.
        """
        unfinished = self.directory / "order.new"
        unfinished.write_text(f"{which} {moment} {changes}\n")
        unfinished.replace(self.directory / "order")

    def called_off(self) -> bool:
        """Nobody is killed any more; whether somebody was."""
        order = self.directory / "order"
        waiting = order.exists()
        order.unlink(missing_ok=True)
        return not waiting

    def taken(self) -> str:
        """The call that an order came true for."""
        file = self.directory / "taken"
        return file.read_text(errors="replace").strip() if file.exists() else ""

    def outcome(self) -> str:
        """Of the last order that was taken: `killed`, or `ended` for a git that changed nothing to be killed over."""
        file = self.directory / "outcome"
        return file.read_text().strip() if file.exists() else ""

    def forget(self) -> None:
        """No order, no log."""
        for name in ("log", "order", "taken", "outcome"):
            (self.directory / name).unlink(missing_ok=True)
