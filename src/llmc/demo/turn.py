"""Drives the work of one turn from one wait to the next: a pause, a git command, or a person's answer."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from llmc.demo.dialog import DemoDialog
from llmc.demo.keys import Key
from llmc.demo.requests import Ask, Doing, Ending, GitCall, Kill, Pause, Reply, Request, SpoolReport, Tell
from llmc.demo.shell import Finished, Running, git_environment

_FOREVER = float("inf")


class DemoTurn:
    """`ending` is set once the work is over. `tell` and `report` take what the work has to say meanwhile."""

    def __init__(
        self, doing: Doing[Ending], tell: Callable[[Tell], None], report: Callable[[SpoolReport], None]
    ) -> None:
        self._doing = doing
        self._tell = tell
        self._report = report
        self._child: Running | None = None
        self.began = time.monotonic()
        self.resume_at = _FOREVER
        self.dialog: DemoDialog | None = None
        self.ending: Ending | None = None
        self._go_on(None)

    @property
    def pipes(self) -> set[int]:
        return self._child.pipes if self._child else set()

    def pass_time(self) -> None:
        if time.monotonic() >= self.resume_at:
            self.resume_at = _FOREVER
            self._go_on(None)

    def read(self, pipe: int) -> None:
        if self._child and pipe in self._child.pipes:
            self._child.read(pipe)

    def collect(self) -> None:
        if self._child and (finished := self._child.collect()):
            self._child = None
            self._go_on(finished)

    def press(self, key: Key) -> None:
        if self.dialog and (answer := self.dialog.take(key)):
            self.dialog = None
            self._go_on(answer)

    def stop(self) -> None:
        """Ends the work where it is."""
        self._doing.close()
        if self._child:
            self._child.end()

    def _go_on(self, reply: Reply) -> None:
        waiting = False
        while not waiting:
            try:
                request = self._doing.send(reply)
            except StopIteration as over:
                self.ending = over.value
                return
            reply, waiting = self._serve(request)

    def _serve(self, request: Request) -> tuple[Reply, bool]:
        """The reply, and whether it is still to come."""
        match request:
            case Pause(seconds):
                self.resume_at = _FOREVER if seconds is None else time.monotonic() + seconds
            case Ask(asking):
                self.dialog = DemoDialog(asking)
            case GitCall():
                return self._start(request)
            case Tell():
                self._tell(request)
                return None, False
            case SpoolReport():
                self._report(request)
                return None, False
            case Kill(number):
                _signal_self(number)
                return None, False
        return None, True

    def _start(self, request: GitCall) -> tuple[Reply, bool]:
        try:
            self._child = Running(("git", *request.args), git_environment(request.env))
        except OSError as failure:
            return Finished(127, "", f"git cannot be started: {failure.strerror}"), False
        return None, True


def _signal_self(number: int) -> None:
    """The signal does what it does to a program that has not prepared for it."""
    handler = None
    with suppress(OSError, ValueError):
        handler = signal.signal(number, signal.SIG_DFL)
    with suppress(OSError):
        os.kill(os.getpid(), number)
    if handler is not None:
        signal.signal(number, handler)
