"""One holder at a time, across processes: a kernel lock that ends with its process and says who has it."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from llmc.errors import LlmcError
from llmc.host import try_lock
from llmc.host.files import disk_errors, leads_to, open_own, open_to_read, read_own
from llmc.host.processes import exists
from llmc.values import Value

FIRST_PAUSE = 0.001
LONGEST_PAUSE = 0.025
PROBE_PATIENCE = 0.2
"""How long a probe may take that the machine stops in the middle."""


class LockTimeoutError(LlmcError):
    """Somebody else has the lock and keeps it."""


class Holder(Value):
    """Who has a lock, as written by the holder; pid 0 when it could not be read."""

    pid: int
    command: str
    since_unix: float

    def __str__(self) -> str:
        return f"pid {self.pid} ({self.command})" if self.pid else "another process"


class FileLock:
    """Waits `timeout` seconds at most. Threads exclude each other too; taking it twice in one thread is a bug."""

    def __init__(self, path: Path | str, *, name: str = "", timeout: float = 10.0) -> None:
        self.path = Path(path)
        self.name = name or self.path.name
        self.timeout = timeout
        self._fd: int | None = None

    def acquire(self) -> None:
        if not self._acquire_within(self.timeout):
            raise self._timed_out()

    def try_acquire(self) -> bool:
        """Does not wait for a holder. A probe is none: it has the lock for an instant, without signing."""
        return self._acquire_within(PROBE_PATIENCE, wait_for_holder=False)

    def release(self) -> None:
        fd, self._fd = self._fd, None
        if fd is None:
            raise RuntimeError(f"{self.path} is not held")
        try:
            # A forked child shares the lock with its parent: it may close its copy, never unlock it.
            if _held.pop(_identity(fd), None) is not None:
                with suppress(OSError):
                    os.ftruncate(fd, 0)
                fcntl.flock(fd, fcntl.LOCK_UN)
        finally:
            os.close(fd)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()

    def _acquire_within(self, seconds: float, *, wait_for_holder: bool = True) -> bool:
        deadline = time.monotonic() + seconds
        pause = FIRST_PAUSE
        while not self._attempt():
            left = deadline - time.monotonic()
            if left <= 0 or not (wait_for_holder or self._holder_is_gone()):
                return False
            time.sleep(min(pause, left))
            pause = min(pause * 2, LONGEST_PAUSE)
        return True

    def _holder_is_gone(self) -> bool:
        """Whether nobody signed, or somebody who was killed since."""
        pid = read_holder(self.path).pid
        return not pid or not exists(pid)

    def _attempt(self) -> bool:
        with disk_errors(self.path):
            fd = open_own(self.path, os.O_RDWR | os.O_CREAT)  # whoever has a lock writes into its file
            try:
                taken = self._lock(fd)
            except BaseException:
                os.close(fd)
                raise
        if taken:
            self._fd = fd
        else:
            os.close(fd)
        return taken

    def _lock(self, fd: int) -> bool:
        identity = _identity(fd)
        if _held.get(identity) == threading.get_ident():
            raise RuntimeError(f"{self.path} is already held by this thread")
        if not try_lock(fd) or not leads_to(self.path, fd):
            return False
        _held[identity] = threading.get_ident()
        _sign(fd)
        return True

    def _timed_out(self) -> LockTimeoutError:
        holder = read_holder(self.path)
        if not holder.pid:
            return LockTimeoutError(f"{self.name} is locked by another process", "try again in a moment")
        seconds = max(0.0, time.time() - holder.since_unix)
        return LockTimeoutError(
            f"{self.name} is locked by {holder} for {seconds:.0f} s",
            f"wait until it is done and try again; if it hangs, end it with `kill {holder.pid}`",
        )


def is_held(path: Path | str) -> Holder | None:
    """Who holds the lock now; None when nobody does."""
    fd = open_to_read(path)
    if fd is None:
        return None
    try:
        return None if try_lock(fd, shared=True) else read_holder(path)
    finally:
        os.close(fd)


def read_holder(path: Path | str) -> Holder:
    """What the file says, whether or not the lock is still held."""
    try:
        said = json.loads(read_own(path))
        return Holder(int(said["pid"]), str(said["command"]), float(said["since_unix"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Holder(0, "", 0.0)


# (process, device, inode) of each lock that is held here, with the thread that holds it. The process is part of the
# key because a forked child inherits this table but not the right to its locks.
_held: dict[tuple[int, int, int], int] = {}


def _identity(fd: int) -> tuple[int, int, int]:
    status = os.fstat(fd)
    return os.getpid(), status.st_dev, status.st_ino


def _sign(fd: int) -> None:
    holder = json.dumps(asdict(Holder(os.getpid(), _this_command(), time.time()))).encode()
    with suppress(OSError):  # the name of the holder is a courtesy: a full disk must not prevent the lock
        os.pwrite(fd, holder, 0)
        os.ftruncate(fd, len(holder))


def _this_command() -> str:
    """Program and verb only: the rest may hold a whole prompt. A word with a slash is the value of an option."""
    verb = next((word for word in sys.argv[1:] if not word.startswith("-") and "/" not in word), "")
    return f"{Path(sys.argv[0] or 'python').name} {verb[:40]}".strip()
