"""A program that runs beside us and is spoken to in lines."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress

ANSWERS_WITHIN_SECS = 10.0
LEAVES_WITHIN_SECS = 2.0


class TalkingProgram:
    """Raises EOFError when the program has ended, or says nothing for too long."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None) -> None:
        self._process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,
            bufsize=0,
        )
        self._lines: deque[bytes] = deque()
        self._unfinished = b""

    def say(self, line: bytes) -> None:
        assert self._process.stdin is not None
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[self._process.stdin.write(rest) :]
        except BrokenPipeError:
            raise EOFError("the program has ended") from None

    def hear(self) -> bytes:
        until = time.monotonic() + ANSWERS_WITHIN_SECS
        while not self._lines:
            *complete, self._unfinished = (self._unfinished + self._read(until)).split(b"\n")
            self._lines += complete
        return self._lines.popleft()

    def _read(self, until: float) -> bytes:
        assert self._process.stdout is not None
        fd = self._process.stdout.fileno()
        ready, _, _ = select.select([fd], [], [], max(0.0, until - time.monotonic()))
        data = os.read(fd, 65536) if ready else b""
        if not data:
            raise EOFError("the program has ended or says nothing")
        return data

    def close(self) -> None:
        """Lets the program leave by itself, as it wants to when nobody speaks any more."""
        assert self._process.stdin is not None
        with self._process, suppress(EOFError, OSError):
            self._process.stdin.close()
            until = time.monotonic() + LEAVES_WITHIN_SECS
            try:
                while True:
                    self._read(until)
            finally:
                self._process.kill()
