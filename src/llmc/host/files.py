"""Files and directories of LLMC's own: nothing goes through a link or a pipe that stands in their place."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from llmc.errors import LlmcError, system_hint

ATTEMPTS = 10
NOT_A_FILE = (errno.ELOOP, errno.EMLINK, errno.ENXIO)
"""What systems say of a link or a socket that was to be opened as a file."""
NOT_A_DIRECTORY = (errno.ENOTDIR, errno.ELOOP, errno.EMLINK)
"""What systems say of a link, or of another kind of file, that was to be opened as a directory."""
AS_IT_IS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Follows no link, and does not wait for the other end of a pipe."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class DiskError(LlmcError):
    """The operating system refused to read or write a file of ours."""


@contextmanager
def disk_errors(path: Path | str) -> Iterator[None]:
    """Turns what the operating system refuses into an error that says what to do."""
    try:
        yield
    except OSError as error:
        raise disk_error(path, error) from error


def disk_error(path: Path | str, error: OSError) -> DiskError:
    what = f"{path}: {(error.strerror or str(error)).lower()}"
    return DiskError(what, f"{system_hint(error)}; nothing was changed")


def write_atomically(
    path: Path | str,
    content: bytes | str,
    *,
    durable: bool = False,
    mode: int = 0o600,
    previous: Path | None = None,
) -> None:
    """In place of what has this name, be it a link; `previous` is another name for what was there before.

    With `durable` it is on the disk when this returns. Whoever asks for that holds a lock, so that what an earlier one
    was killed over has a name that is known, and goes away. Else it is something that can be made anew, and any number
    of threads and processes may write it at once.
    """
    path = Path(path)
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    # Apart from the durable ones the name is not made from the other: that may be as long as names can be.
    new = _unfinished(path) if durable else path.with_name(f".new-{threading.get_native_id()}")
    try:
        _write_new(new, data, mode, durable)
        if previous is not None:
            _keep(path, previous)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    if durable:
        sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """A rename is safe from a loss of power only when its directory is on the disk too."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


def _write_new(path: Path, data: bytes, mode: int, durable: bool) -> None:
    path.unlink(missing_ok=True)
    fd = os.open(path, NEW_FILE, mode)
    try:
        os.fchmod(fd, mode)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)


def _keep(path: Path, previous: Path) -> None:
    """By a second name for the same file, so that neither of the two is ever absent or partial."""
    new = _unfinished(previous)
    new.unlink(missing_ok=True)
    try:
        new.hardlink_to(path)
    except OSError:  # a file system without hard links
        _write_new(new, path.read_bytes(), 0o600, durable=True)
    try:
        new.replace(previous)
    finally:  # to rename it onto another name of the same file does nothing: somebody was killed right after this
        new.unlink(missing_ok=True)


def open_own(path: Path | str, flags: int) -> int:
    """Opens the file. A link, a pipe or a socket is renamed, and a new file made if the flags say so."""
    for _ in range(ATTEMPTS):
        fd = open_regular(path, flags)
        if fd is not None:
            return fd
        stand_aside(path)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))


def open_to_read(path: Path | str) -> int | None:
    """None when there is no file of that name, or none of its own."""
    try:
        return open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise disk_error(path, error) from error


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


def open_plain(path: str) -> BinaryIO:
    """To read what somebody else writes. Raises OSError, too, for a link, and for a pipe or a device without an end."""
    fd = open_regular(path, os.O_RDONLY)
    if fd is None:
        raise OSError(errno.EINVAL, "it is no file of its own", path)
    return open(fd, "rb")


def read_own(path: Path | str) -> bytes:
    """What is no file is empty."""
    fd = open_regular(path, os.O_RDONLY)
    if fd is None:
        return b""
    with open(fd, "rb") as file:
        return file.read()


def leads_to(path: Path, fd: int) -> bool:
    """Whether the name still leads to the open file: a lock on one that was renamed or deleted excludes nobody."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def opened(path: str, *, within: int | None = None) -> Iterator[int | None]:
    """The directory, to name its entries by; None where there is none."""
    try:
        directory = os.open(path, _DIRECTORY, dir_fd=within)
    except OSError as error:
        if error.errno not in (errno.ENOENT, *NOT_A_DIRECTORY):
            raise
        yield None
        return
    try:
        yield directory
    finally:
        os.close(directory)


def read_below(top: str, name: str, largest: int) -> bytes:
    """Of a directory that somebody else writes to: empty where it, or anything on the way, is a link or no file."""
    directory, _, rest = name.partition("/")
    with opened(top) as at:
        return b"" if at is None else _read_within(at, directory, rest, largest)


def write_below(top: str, name: str, content: bytes) -> None:
    """As `read_below`: raises OSError where anything on the way is a link."""
    with made_below(top, os.path.dirname(name)) as at:
        with suppress(FileNotFoundError):
            os.unlink(os.path.basename(name), dir_fd=at)
        with open(os.open(os.path.basename(name), NEW_FILE, 0o600, dir_fd=at), "wb") as file:
            file.write(content)


@contextmanager
def made_below(top: str, name: str) -> Iterator[int]:
    """The directory, to name its entries by. What of it is absent is made; through a link nothing is."""
    at = os.open(top, _DIRECTORY)
    try:
        for part in filter(None, name.split("/")):
            if part == "..":
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), name)
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=at)
            below = os.open(part, _DIRECTORY, dir_fd=at)
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


def _read_within(at: int, name: str, rest: str, largest: int) -> bytes:
    if name == "..":
        return b""
    if rest:
        with opened(name, within=at) as below:
            directory, _, others = rest.partition("/")
            return b"" if below is None else _read_within(below, directory, others, largest)
    try:
        fd = os.open(name, os.O_RDONLY | AS_IT_IS, dir_fd=at)
    except OSError:
        return b""
    with open(fd, "rb") as file:
        return file.read(largest) if stat.S_ISREG(os.fstat(fd).st_mode) else b""


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
