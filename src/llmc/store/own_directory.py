"""Directories of LLMC's own, opened as they are: never where a link leads that stands in their place."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NOT_A_DIRECTORY = (errno.ENOTDIR, errno.ELOOP, errno.EMLINK)
"""What systems say of a link, or of another kind of file, that was to be opened as a directory."""


@contextmanager
def opened(path: str, *, within: int | None = None) -> Iterator[int | None]:
    """The directory, to name its entries by; None where there is none."""
    try:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        directory = os.open(path, flags, dir_fd=within)
    except OSError as error:
        if error.errno not in (errno.ENOENT, *NOT_A_DIRECTORY):
            raise
        yield None
        return
    try:
        yield directory
    finally:
        os.close(directory)


def is_own_directory(path: str) -> bool:
    """Whether it is a directory and no link to one."""
    mode = _mode(path)
    return mode is not None and stat.S_ISDIR(mode)


def is_replaced(path: str) -> bool:
    """Whether something else stands where a directory of ours belongs."""
    mode = _mode(path)
    return mode is not None and not stat.S_ISDIR(mode)


def make_own_directory(path: str) -> None:
    """A link, or another file, in its place is renamed."""
    if is_replaced(path):
        directory, name = os.path.split(path)
        os.rename(path, os.path.join(directory, f".{name}.aside-{time.time_ns()}"))
    Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)


def _mode(path: str) -> int | None:
    with suppress(FileNotFoundError, NotADirectoryError):
        return os.lstat(path).st_mode
    return None
