"""`llmc ui` at a terminal of its own, in a private tmux: keys are pressed, and what a person sees is looked at."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from testing.waiting import wait_until

PATIENCE_SECS = 90.0
SERVER = "face"


@dataclass(slots=True)
class FaceTerminal:
    def tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-L", SERVER, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"tmux {words}: {done.stderr}"
        return done.stdout

    def look(self, *, coloured: bool = False) -> str:
        return self.tmux("capture-pane", "-p", *(["-e"] if coloured else []))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.tmux("send-keys", key)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def until(self, *words: str, without: str = "") -> str:
        """The screen that shows all of these at once."""

        def shown() -> str:
            seen = self.look()
            return seen if all(each in seen for each in words) and not (without and without in seen) else ""

        try:
            return wait_until(shown, PATIENCE_SECS)
        except AssertionError:
            raise AssertionError(f"never saw {words} without {without!r}:\n{self.look()}") from None


@contextmanager
def at_face(root: str, size: tuple[int, int] = (120, 36)) -> Iterator[FaceTerminal]:
    """The program is this checkout's, on the root; it is ended with its terminal."""
    words = [sys.executable, "-P", "-m", "llmc.cli.main", "--root", root, "ui"]
    face = FaceTerminal()
    width, height = map(str, size)
    shell = "env -u TMUX -u TMUX_PANE -u COLUMNS -u LINES TERM=screen-256color COLORTERM=truecolor LANG=C.UTF-8"
    command = f"{shell} {' '.join(words)}; echo the program has ended: $?; sleep 1000"
    face.tmux("-f", "/dev/null", "new-session", "-d", "-x", width, "-y", height, command)
    try:
        face.tmux("set-option", "-g", "status", "off")
        yield face
    finally:
        with suppress(AssertionError):
            face.tmux("kill-server")
