"""`llmc ui` at a terminal of its own, in a private tmux: keys are pressed, and what a person sees is looked at."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count

from textual.pilot import Pilot

from llmc.host.local import LocalHost
from llmc.ui.face import BoardUi
from testing.story import Story
from testing.waiting import wait_until

PATIENCE_SECS = 150.0
LOOK_EVERY_SECS = 0.1
_NUMBERS = count()


@dataclass(slots=True)
class FaceTerminal:
    server: str
    """One for each: a server that is about to end would take a session on, and end."""

    def tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-L", self.server, *words], capture_output=True, text=True, check=False)
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
    face = FaceTerminal(f"face-{next(_NUMBERS)}")
    width, height = map(str, size)
    shell = "env -u TMUX -u TMUX_PANE -u COLUMNS -u LINES TERM=screen-256color COLORTERM=truecolor LANG=C.UTF-8"
    command = f"{shell} {shlex.join(words)}; echo the program has ended: $?; sleep 1000"
    face.tmux("-f", "/dev/null", "new-session", "-d", "-x", width, "-y", height, command)
    try:
        face.tmux("set-option", "-g", "status", "off")
        yield face
    finally:
        with suppress(AssertionError):
            face.tmux("kill-server")


# --- in this process --------------------------------------------------------------------------------


def seen_in(face: BoardUi) -> str:
    """All that is drawn now, as text."""
    strips = face.screen._compositor.render_strips(face.screen.size)
    return "\n".join(strip.text.rstrip() for strip in strips)


async def until_seen(pilot: Pilot[None], *words: str, without: str = "") -> str:
    face = pilot.app
    assert isinstance(face, BoardUi)
    until = time.monotonic() + PATIENCE_SECS
    while True:
        await pilot.pause(LOOK_EVERY_SECS)
        seen = seen_in(face)
        if all(each in seen for each in words) and not (without and without in seen):
            return seen
        if time.monotonic() > until:
            raise AssertionError(f"never saw {words} without {without!r}:\n{seen}")


async def until_true(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    """For what the screen does not tell; a failure shows the screen all the same."""
    until = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert isinstance(pilot.app, BoardUi)
        assert time.monotonic() < until, f"it never came to that:\n{seen_in(pilot.app)}"
        await pilot.pause(LOOK_EVERY_SECS)


def play(story: Story, steps: Callable[[Pilot[None]], Awaitable[None]], size: tuple[int, int] = (120, 36)) -> None:
    """The program on the story's root, without a terminal; `steps` presses keys and looks."""

    async def run() -> None:
        face = BoardUi(story.root, LocalHost(), lambda: story.site)
        async with face.run_test(size=size) as pilot:
            await steps(pilot)

    asyncio.run(run())
