"""This machine, as the other rooms see it: what only this room may use of the operating system, by topic.

Right here is what status lines ask: it imports next to nothing.
"""

from __future__ import annotations

import os
import sys


def terminal_columns() -> int | None:
    """None where the answer goes to a file or a program: nothing is cut there."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def try_lock(fd: int, *, shared: bool = False) -> bool:
    import fcntl  # who only asks for help or for the width of the terminal does without

    try:
        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def words_of_holder(lock: str) -> bytes | None:
    """What whoever holds the lock now has written into its file; None when nobody does."""
    try:
        fd = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return None if try_lock(fd, shared=True) else os.read(fd, 4096)
    finally:
        os.close(fd)


def was_killed(pid: int) -> bool:
    """Its locks last until the last of its threads has ended, which may take a moment on a busy machine."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except (OSError, LookupError):
        return False
