"""libtmux at work in a process and an environment of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bench.peers import LIBTMUX

PROGRAM = Path(__file__).with_name("libtmux_program.py")


@dataclass(frozen=True, slots=True)
class Sender:
    to: IO[str]
    answers: IO[str]

    def send(self, text: str) -> bool:
        """Whether libtmux says that it has sent it."""
        self.to.write(json.dumps(text) + "\n")
        self.to.flush()
        return self.answers.readline() == "sent\n"


@contextmanager
def sender(tmux_socket: str, pane: str) -> Iterator[Sender]:
    with _running("send", tmux_socket, pane) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Sender(process.stdin, process.stdout)


@contextmanager
def poller(tmux_socket: str) -> Iterator[int]:
    """Its pid, once it has looked at every terminal for the first time."""
    with _running("watch", tmux_socket) as process:
        yield process.pid


@contextmanager
def _running(*words: str) -> Iterator[subprocess.Popen[str]]:
    argv = [LIBTMUX.program, str(PROGRAM), *words]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline(), "libtmux has ended"
            yield process
        finally:
            process.kill()
