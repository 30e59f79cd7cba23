"""What a program says while it runs: of a flood, its beginning and its end. The program never waits for us."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import IO

BEGINNING_KEPT = 1 << 14
END_KEPT = 1 << 18
LOG_KEPT = 16 << 20
AT_ONCE = 1 << 20
"""More than a pipe holds: after this the clock is looked at again."""


class ProgramOutput:
    """Read from a pipe that does not block. All of it goes to the log, too, which begins anew when it is too long."""

    def __init__(self, pipe: int, log: IO[bytes] | None) -> None:
        os.set_blocking(pipe, False)
        self.pipe: int | None = pipe
        """None when everybody who could say something has closed it."""
        self._log = log
        self._beginning = b""
        self._end = bytearray()
        self._length = 0

    def read(self) -> None:
        """What was said since."""
        taken = 0
        with suppress(BlockingIOError):
            while self.pipe is not None and taken < AT_ONCE:
                data = os.read(self.pipe, 1 << 16)
                taken += len(data)
                if not data:
                    self.pipe = None
                self._add(data)

    def _add(self, data: bytes) -> None:
        self._length += len(data)
        self._beginning += data[: BEGINNING_KEPT - len(self._beginning)]
        self._end += data
        if len(self._end) > 2 * END_KEPT:
            del self._end[:-END_KEPT]
        if self._log is not None:
            with suppress(OSError):  # a full disk keeps nobody from going on
                self._write(self._log, data)

    def _write(self, log: IO[bytes], data: bytes) -> None:
        if os.fstat(log.fileno()).st_size > LOG_KEPT:
            os.ftruncate(log.fileno(), 0)
            log.write(b"(the output before this was cut off)\n" + self._end[-END_KEPT:])
        else:
            log.write(data)

    @property
    def kept(self) -> bytes:
        end = bytes(self._end[-END_KEPT:])
        if self._length <= len(end):
            return end
        left_out = self._length - len(end) - len(self._beginning)
        if left_out <= 0:
            return self._beginning + end[-(self._length - len(self._beginning)) :]
        return self._beginning + b"\n(... %d bytes were left out ...)\n" % left_out + end

    @property
    def last_line(self) -> str:
        lines = self._end[-4096:].decode("utf-8", "replace").splitlines()
        return next((line for line in reversed(lines) if line.strip()), "")
