"""The program: one loop over the terminal, signals and the running turn."""

from __future__ import annotations

import hashlib
import os
import select
import signal
import time
from collections import deque
from collections.abc import Iterable

from llmc.demo.composer import Composer, Submission
from llmc.demo.keys import Key, KeyReader, Press, Typed
from llmc.demo.requests import Crashed, Ending, FailedTurn, SpoolReport, Tell, Tone, TurnOver
from llmc.demo.screen import PROMPT, DemoView, picture
from llmc.demo.spool import Spool
from llmc.demo.terminal import DemoTerminal
from llmc.demo.text import lines_of
from llmc.demo.turn import DemoTurn
from llmc.demo.work import work

WELCOME = (
    "A prompt's lines of the form `demo:VERB ...` are done one by one;\n"
    "a prompt without any is turned into a note and committed."
)
CRASH_WORDS = "demo agent crashed on request"

_SPINNER_SECS = 0.1
_ESCAPE_SECS = 0.05
_FATAL = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_MOST_TOLD = 1000


class Program:
    """Runs until somebody leaves; `run` answers with the exit code."""

    def __init__(self, spool: Spool, pace: float) -> None:
        self._spool = spool
        self._pace = pace
        self._terminal = DemoTerminal()
        self._reader = KeyReader()
        self._composer = Composer()
        self._told: deque[Tell] = deque([Tell(WELCOME, Tone.DIM)], _MOST_TOLD)
        self._queue: deque[Submission] = deque()
        self._turn: DemoTurn | None = None
        self._leaving = False
        self._spool_complaint = ""
        self._escape_due: float | None = None
        self._exit_code: int | None = None
        self._last_words = ""

    def run(self) -> int:
        wake = _watch_signals()
        self._terminal.open()
        try:
            self._draw()
            self._report(SpoolReport("session_start", {"reason": "startup"}))
            while self._exit_code is None:
                self._wait(wake)
                self._settle()
                self._draw()
            return self._exit_code
        finally:
            if self._turn:
                self._turn.stop()
            self._terminal.close(self._last_words)

    # What happens

    def _wait(self, wake: int) -> None:
        pipes = self._turn.pipes if self._turn else set()
        ready, _, _ = select.select([self._terminal.fd, wake, *pipes], [], [], self._patience())
        for fd in ready:
            if fd == wake:
                self._take_signals(os.read(wake, 512))
            elif fd == self._terminal.fd:
                self._take_input(self._terminal.read())
            elif self._turn:
                self._turn.read(fd)
        self._pass_time()

    def _patience(self) -> float | None:
        """How long to wait at most; for ever when nothing is under way."""
        now = time.monotonic()
        dues = [] if self._escape_due is None else [self._escape_due]
        if self._turn and not self._turn.dialog:
            dues += [self._turn.resume_at, now + _SPINNER_SECS]
        return max(0.0, min(dues) - now) if dues else None

    def _take_signals(self, numbers: bytes) -> None:
        for number in _FATAL:
            if number in numbers:
                self._leave(128 + number, "other")
        if self._turn:
            self._turn.collect()

    def _take_input(self, data: bytes) -> None:
        if not data:
            self._leave(128 + signal.SIGHUP, "other")
        self._take(self._reader.feed(data))
        self._escape_due = time.monotonic() + _ESCAPE_SECS if self._reader.waiting else None

    def _pass_time(self) -> None:
        if self._escape_due is not None and time.monotonic() >= self._escape_due:
            self._escape_due = None
            self._take(self._reader.time_passed())
        if self._turn:
            self._turn.pass_time()

    # What keys do

    def _take(self, keys: Iterable[Key]) -> None:
        for key in keys:
            # A dialog may open or close between any two characters.
            parts = [Typed(character) for character in key.text] if self._asking and isinstance(key, Typed) else [key]
            for part in parts:
                self._press(part)
                self._settle()

    @property
    def _asking(self) -> bool:
        return self._turn is not None and self._turn.dialog is not None

    def _press(self, key: Key) -> None:
        warned, self._leaving = self._leaving, False
        if key is Press.INTERRUPT:
            self._clear_stop_or_leave(warned)
        elif key is Press.ESCAPE:
            self._interrupt()
        elif self._turn and self._turn.dialog:
            self._turn.press(key)
        elif submission := self._composer.take(key):
            self._submit(submission)

    def _clear_stop_or_leave(self, warned: bool) -> None:
        field = self._turn.dialog.field if self._turn and self._turn.dialog else self._composer
        if field and not field.empty:
            field.clear()
        elif self._turn:
            self._interrupt()
        elif warned:
            self._leave(0, "exit")
        else:
            self._leaving = True

    def _interrupt(self) -> None:
        """Reports nothing, like the programs that this one stands in for."""
        if self._turn:
            self._turn.stop()
            self._turn = None
            self._tell(Tell("  ⎿ Interrupted", Tone.ERROR))

    def _submit(self, submission: Submission) -> None:
        if _command(submission) == "/exit":
            self._leave(0, "exit")
        else:
            self._queue.append(submission)

    # What turns do

    def _settle(self) -> None:
        """Ends the turn that is over and begins what waits behind it."""
        while self._exit_code is None:
            if self._turn and self._turn.ending:
                ending, self._turn = self._turn.ending, None
                self._finish(ending)
            elif not self._turn and self._queue:
                self._begin(self._queue.popleft())
            else:
                return

    def _begin(self, submission: Submission) -> None:
        if _command(submission) == "/clear":
            self._clear()
            return
        self._tell(Tell("\n" + PROMPT + "\n  ".join(lines_of(submission.shown))))
        digest = hashlib.sha256(submission.text.encode()).hexdigest()
        self._report(SpoolReport("prompt", {"text": submission.text, "sha256": digest}))
        self._turn = DemoTurn(work(submission.text, self._pace), self._tell, self._report)

    def _finish(self, ending: Ending) -> None:
        match ending:
            case TurnOver(last_message):
                self._report(SpoolReport("turn_end", {"last_message": last_message}))
            case FailedTurn(kind, message):
                self._tell(Tell(f"● Error ({kind}): {message}", Tone.ERROR))
                self._report(SpoolReport("failure", {"kind": kind, "message": message}))
            case Crashed(code):
                self._exit_code, self._last_words = code, CRASH_WORDS

    def _clear(self) -> None:
        self._told.clear()
        self._report(SpoolReport("session_end", {"reason": "clear"}))
        self._report(SpoolReport("session_start", {"reason": "clear"}))

    def _leave(self, code: int, reason: str) -> None:
        if self._exit_code is None:
            self._exit_code = code
            self._report(SpoolReport("session_end", {"reason": reason}))

    # What can be seen

    def _tell(self, tell: Tell) -> None:
        self._told.append(tell)

    def _report(self, report: SpoolReport) -> None:
        try:
            self._spool.report(report.event, report.fields)
        except OSError as failure:
            if not self._spool_complaint:
                self._spool_complaint = f"Events cannot be reported: {failure}"
                self._tell(Tell(self._spool_complaint, Tone.ERROR))

    def _draw(self) -> None:
        turn = self._turn
        view = DemoView(
            transcript=self._told,
            draft=self._composer.shown,
            queued=[submission.shown for submission in self._queue],
            busy_secs=time.monotonic() - turn.began if turn else None,
            dialog=turn.dialog if turn else None,
            leaving=self._leaving,
        )
        self._terminal.draw(picture(view, *self._terminal.size()))


def _command(submission: Submission) -> str:
    return submission.text.strip() if submission.typed else ""


def _watch_signals() -> int:
    """Signals arrive as bytes on the pipe that this answers with."""
    wake, inlet = os.pipe()
    os.set_blocking(inlet, False)
    signal.set_wakeup_fd(inlet, warn_on_full_buffer=False)
    for number in (*_FATAL, signal.SIGWINCH, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    return wake
