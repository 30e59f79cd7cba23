"""Files of LLMC's own: nothing is read or written through a link or a pipe that stands in their place."""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import suppress
from pathlib import Path

ATTEMPTS = 10
NOT_A_FILE = (errno.ELOOP, errno.EMLINK, errno.ENXIO)
"""What systems say of a link or a socket that was to be opened as a file."""
AS_IT_IS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Follows no link, and does not wait for the other end of a pipe."""


def open_own(path: Path | str, flags: int) -> int:
    """Opens the file. A link, a pipe or a socket is renamed, and a new file made if the flags say so."""
    for _ in range(ATTEMPTS):
        fd = open_regular(path, flags)
        if fd is not None:
            return fd
        stand_aside(path)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))


def open_regular(path: Path | str, flags: int) -> int | None:
    """None when what has this name is no file of its own."""
    try:
        fd = os.open(path, flags | AS_IT_IS, 0o600)
    except OSError as error:
        if error.errno in NOT_A_FILE:
            return None
        raise
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    return None


def stand_aside(path: Path | str) -> None:
    """A file stays: then somebody was quicker. A directory, too: there is no telling what is in it."""
    with suppress(FileNotFoundError, NotADirectoryError):
        mode = os.lstat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            directory, name = os.path.split(os.fspath(path))
            os.rename(path, os.path.join(directory, f".{name}.aside-{time.time_ns()}"))


def read_own(path: Path | str) -> bytes:
    """What is no file is empty."""
    fd = open_regular(path, os.O_RDONLY)
    if fd is None:
        return b""
    with open(fd, "rb") as file:
        return file.read()
