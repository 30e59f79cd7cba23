"""Runs git beside the event loop: start it, watch its pipes, collect it when it has ended."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

_CHUNK = 65536
_GRACE_SECS = 2.0


class Finished(NamedTuple):
    """A process that has ended. `code` is negative for a signal."""

    code: int
    out: str
    err: str

    @property
    def ok(self) -> bool:
        return self.code == 0

    @property
    def complaint(self) -> str:
        lines = (self.err.strip() or self.out.strip() or f"exit code {self.code}").splitlines()
        return next((line for line in lines if line.startswith(("error:", "fatal:"))), lines[-1])


class Running:
    """A process under way. `pipes` are to be watched for reading."""

    def __init__(self, argv: tuple[str, ...], env: Mapping[str, str]) -> None:
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        self._taken: dict[int, bytearray] = {out_read: bytearray(), err_read: bytearray()}
        self._order = (out_read, err_read)
        for pipe in self._order:
            os.set_blocking(pipe, False)
        try:
            self.pid = _spawn(argv, env, out_write, err_write)
        except OSError:
            self._close()
            raise
        finally:
            os.close(out_write)
            os.close(err_write)
        self.pipes = set(self._order)

    def read(self, pipe: int) -> None:
        """Takes what is there; a pipe at its end is no longer in `pipes`."""
        with suppress(BlockingIOError):
            while data := os.read(pipe, _CHUNK):
                self._taken[pipe] += data
            self.pipes.discard(pipe)

    def collect(self) -> Finished | None:
        """None while it runs. Does not wait for pipes that a grandchild still holds open."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        for pipe in tuple(self.pipes):
            self.read(pipe)
        self._close()
        out, err = (self._taken[pipe].decode("utf-8", "surrogateescape") for pipe in self._order)
        return Finished(os.waitstatus_to_exitcode(status), out, err)

    def end(self) -> None:
        """Stops it and everything that it has started, gently first: git removes its lock files on SIGTERM."""
        self._signal(signal.SIGTERM)
        patience = time.monotonic() + _GRACE_SECS
        while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > patience:
                self._signal(signal.SIGKILL)
            time.sleep(0.01)
        self._close()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _close(self) -> None:
        for pipe in self._order:
            os.close(pipe)
        self.pipes = set()


def git_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Ours, with what keeps git from asking a person anything; file names are never patterns."""
    quiet = {"GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C.UTF-8"}
    return {**os.environ, **quiet, **extra}


def _spawn(argv: tuple[str, ...], env: Mapping[str, str], out: int, err: int) -> int:
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, out, 1),
        (os.POSIX_SPAWN_DUP2, err, 2),
    ]
    # Python ignores SIGPIPE, and what is ignored would stay so in the child.
    return os.posix_spawnp(argv[0], argv, env, file_actions=actions, setpgroup=0, setsigdef=[signal.SIGPIPE])
