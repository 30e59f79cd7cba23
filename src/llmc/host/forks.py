"""Carrying something out in a fork of this process, which has loaded all that it needs already."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import IO, NoReturn

MOST_FILES = 4096


class Forked:
    """A child with its own session. It goes on when we end, and nothing of ours stays open in it."""

    def __init__(
        self, run: Callable[[], int], *, stdin: bytes = b"", speaks: bool = False, hears: bool = False
    ) -> None:
        """`run` sees `stdin` as its standard input. With `speaks` its output can be read from `fd` as it comes, else
        what it says goes to files, and `fd` only ends. With `hears` it is told more by `tell`, until we end."""
        self._files: list[IO[bytes]] = [tempfile.TemporaryFile() for _ in range(3)]  # noqa: SIM115
        self._files[0].write(stdin)
        self._files[0].seek(0)
        self.fd, their_end = os.pipe()
        heard, self._to = os.pipe() if hears else (-1, -1)
        self.pid = os.fork()
        if self.pid == 0:
            if hears:
                os.close(self._to)
                self._files[0] = open(heard, "rb")  # noqa: SIM115
            _become(run, self._files, their_end, speaks=speaks)
        os.close(their_end)
        if hears:
            os.close(heard)

    def tell(self, data: bytes) -> None:
        """Raises OSError when it has ended."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._to, rest) :]

    def finish(self) -> tuple[int, bytes, bytes]:
        """Its exit code, and what it said. Waits for its end."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        if self._to >= 0:
            os.close(self._to)
        out, err = (read_whole(file.fileno()) for file in self._files[1:])
        return code, out, err

    def end(self) -> None:
        os.killpg(self.pid, signal.SIGKILL)


def read_whole(fd: int) -> bytes:
    """From its beginning, wherever others are in it."""
    return os.pread(fd, os.fstat(fd).st_size, 0)


def said_so_far() -> tuple[bytes, bytes]:
    """In a fork: what it has written to standard output and error."""
    sys.stdout.flush()
    sys.stderr.flush()
    return read_whole(1), read_whole(2)


def without_hangups() -> None:
    """Who is at the other end of a connection that breaks finds what was begun brought to its end."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _become(run: Callable[[], int], files: list[IO[bytes]], end: int, *, speaks: bool) -> NoReturn:
    code = 3
    try:
        os.setsid()
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        if speaks:
            os.dup2(end, 1)
        os.closerange(3, end)
        os.closerange(end + 1, MOST_FILES)
        code = run()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        os._exit(code)
