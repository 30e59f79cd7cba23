"""The one way to write a whole file: readers see all of it or what was there before, and no link is followed."""

from __future__ import annotations

import os
import threading
from pathlib import Path

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


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
    fd = os.open(path, _NEW_FILE, mode)
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
