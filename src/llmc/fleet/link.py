"""One connection to a machine: greeted once, then any number of questions side by side. Nothing waits for ever."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from llmc import __version__
from llmc.core.display import one_line
from llmc.errors import LlmcError
from llmc.fleet.reach import UnreachableError
from llmc.fleet.registry import Machine
from llmc.fleet.remote_words import command_there
from llmc.fleet.shapes import number, shaped
from llmc.fleet.wire import GREETING, MOST_BANNER_LINES, MOST_BYTES, PROTOCOL, decode_line, encode_line
from llmc.git.runner import clean_environment
from llmc.host.piped import PipedProgram
from llmc.values import Value

GREETS_WITHIN_SECS = 20.0
WRITES_WITHIN_SECS = 10.0
SILENT_AT_MOST_SECS = 12.0
"""Somebody at the other end says something more often than this, be it only that nothing has happened."""
LONGEST_WHY = 200


class WrongMachineError(LlmcError):
    """What answers is not what the hub has known under that name."""


class Greeting(Value):
    version: str
    id: str
    epoch: int
    hub: str
    now_unix: float


class MachineLink:
    """`heard` is told what the machine says by itself, in the thread that reads, and `ended` when it says no more."""

    def __init__(
        self,
        machine: Machine,
        heard: Callable[[dict[str, Any]], None] = lambda said: None,
        ended: Callable[[], None] = lambda: None,
        greets_within: float = GREETS_WITHIN_SECS,
    ) -> None:
        member = machine.member
        self.machine = machine
        argv = machine.reach.argv(command_there(machine, ["remote-serve"]))
        self._program = PipedProgram(argv, clean_environment(os.environ))
        self._lines = self._program.lines(greets_within, MOST_BYTES)
        self._heard, self._ended = heard, ended
        self._wrong = ""
        self._asked: dict[int, _Question] = {}
        self._count = 0
        self._turn = threading.Lock()
        self._writing = threading.Lock()
        self._is_over = threading.Event()
        self.heard_unix = time.time()
        """When the machine said its last word."""
        try:
            self.greeting = _greeting(self._said_first(greets_within))
            _require_same(machine, self.greeting)
        except BaseException:
            self._program.close()
            raise
        self._lines = self._program.lines(SILENT_AT_MOST_SECS, MOST_BYTES)
        self._reader = threading.Thread(target=self._read, name=f"machine {member.name}", daemon=True)
        self._reader.start()

    @property
    def is_over(self) -> bool:
        return self._is_over.is_set()

    def ask(self, within: float, **order: Any) -> dict[str, Any]:  # noqa: ANN401 - as the wire has it
        """Raises UnreachableError when no answer came: then nobody knows whether it was carried out."""
        question = _Question()
        with self._turn:
            self._count += 1
            number = self._count
            self._asked[number] = question
        try:
            with self._writing:
                self._program.write(encode_line({"id": number, **order}), WRITES_WITHIN_SECS)
        except EOFError:
            self._end()
        if self._is_over.is_set() or not question.answered.wait(within) or question.answer is None:
            self._asked.pop(number, None)
            raise self._unreachable("it gave no answer", was_sent=True)
        return question.answer

    def close(self) -> None:
        with self._writing:
            self._program.hang_up()
        self._program.end()
        self._reader.join(WRITES_WITHIN_SECS)
        self._program.close()

    def _read(self) -> None:
        try:
            for line in self._lines:
                self.heard_unix = time.time()
                said = decode_line(line)
                question = self._asked.pop(said["id"], None) if type(said.get("id")) is int else None
                try:  # who has the answer looks at what came with it
                    if question is None or "board" in said:
                        self._heard(said)
                finally:
                    if question is not None:
                        question.answer = said
                        question.answered.set()
        except (EOFError, OSError) as wrong:
            self._wrong = str(wrong)
        finally:
            self._end()

    def _end(self) -> None:
        self._is_over.set()
        for question in list(self._asked.values()):
            question.answered.set()
        self._ended()

    # --- the greeting -----------------------------------------------------------------------------------

    def _said_first(self, within: float) -> dict[str, Any]:
        """A login shell may print whatever it likes before."""
        until = time.monotonic() + within
        with suppress(EOFError):
            for line in islice(_decoded(self._lines), MOST_BANNER_LINES):
                if line.startswith(GREETING):
                    return decode_line(line.removeprefix(GREETING).encode())
                if time.monotonic() > until:
                    break
        raise self._unreachable("nobody greeted")

    def _unreachable(self, otherwise: str, *, was_sent: bool = False) -> UnreachableError:
        self._program.exit_code(0.2)
        complaint = self._program.complaint
        said, state = complaint.splitlines(), self.machine.reach.state_after(complaint)
        told = [line.removeprefix("error: ") for line in said if line.startswith("error: ")] or said
        why = self._wrong or (one_line(told[-1], LONGEST_WHY) if told else otherwise)
        name = self.machine.name
        hint = f"`llmc machine check {name}` looks closer"
        return UnreachableError(f"{name} cannot be reached: {why}", hint, was_sent=was_sent, state=state)


class _Question:
    def __init__(self) -> None:
        self.answered = threading.Event()
        self.answer: dict[str, Any] | None = None


def _decoded(lines: Iterator[bytes]) -> Iterator[str]:
    for line in lines:
        with suppress(UnicodeDecodeError):
            yield line.decode().strip()


def _greeting(answered: dict[str, Any]) -> Greeting:
    said = shaped(answered, {"version": "", "machine": "", "epoch": 0, "hub": ""})
    if answered.get("protocol") != PROTOCOL:
        theirs = one_line(said["version"]) or "of another version"
        raise LlmcError(
            f"the machine has llmc {theirs}, which speaks differently from {__version__} here",
            "install the same version there",
        )
    now = number(answered.get("now_unix"), time.time())
    return Greeting(said["version"], said["machine"], said["epoch"], said["hub"], now)


def _require_same(machine: Machine, greeting: Greeting) -> None:
    name = machine.name
    if greeting.hub and greeting.hub != machine.hub:
        raise WrongMachineError(f"{name} belongs to another hub", f"give it another home: `llmc machine add {name}`")
    if greeting.id != machine.member.id:
        raise WrongMachineError(
            f"{name} is not the machine that it was: its root was made anew or is gone",
            f"`llmc machine lost {name}` frees its tasks; then `llmc machine add {name} ...` makes it anew",
        )
