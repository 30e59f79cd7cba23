"""A program that runs beside us for long and is talked to over its pipes."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from llmc.errors import LlmcError

ENDS_WITHIN_SECS = 2.0
MOST_TOLD = 2000


class PipedProgram:
    """One thread may read while others write, in turns of their own. What it complains of is kept."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - until `close`
        try:
            self._process = subprocess.Popen(
                argv,
                env=dict(env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as failure:
            self._complaints.close()
            raise LlmcError(f"{argv[0]} does not start: {failure.strerror}", f"install {argv[0]}") from failure
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)

    def write(self, data: bytes, within: float) -> None:
        """Raises EOFError when it takes nothing any more."""
        rest, until = memoryview(data), time.monotonic() + within
        if self._in < 0:
            raise EOFError("it was hung up on")
        while rest:
            _, ready, _ = select.select([], [self._in], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise EOFError("it takes no more input")
            try:
                rest = rest[os.write(self._in, rest) :]
            except BlockingIOError:
                continue
            except (BrokenPipeError, ValueError, OSError):
                raise EOFError("it has ended") from None

    def lines(self, silence: float, most: int) -> Iterator[bytes]:
        """Until it ends, or has ended no line for so many seconds. Raises EOFError for a line of more bytes."""
        parts, size, until = list[bytes](), 0, time.monotonic() + silence
        while True:
            ready, _, _ = select.select([self._out], [], [], max(0.0, until - time.monotonic()))
            data = os.read(self._out, 1 << 16) if ready else b""
            if not data:
                return
            *whole, last = data.split(b"\n")
            if whole:
                yield b"".join([*parts, whole[0]])
                yield from whole[1:]
                parts, size, until = [], 0, time.monotonic() + silence
            parts.append(last)
            size += len(last)
            if size > most:
                raise EOFError(f"it has sent a line of more than {most >> 20} MiB")

    @property
    def complaint(self) -> str:
        """The last that it has said on standard error."""
        size = os.fstat(self._complaints.fileno()).st_size
        said = os.pread(self._complaints.fileno(), MOST_TOLD, max(0, size - MOST_TOLD))
        return said.decode("utf-8", "replace").strip()

    def exit_code(self, within: float) -> int | None:
        """None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(within)
        return None

    def hang_up(self) -> None:
        """It reads the end of its input, wherever it runs. Only when nobody writes."""
        self._in = -1
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        if self.exit_code(ENDS_WITHIN_SECS) is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def close(self) -> None:
        """Only when nobody reads or writes any more."""
        self.end()
        for stream in (self._process.stdin, self._process.stdout, self._complaints):
            if stream is not None:
                stream.close()
