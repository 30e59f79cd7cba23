"""What stands at a path of a checkout, looked at and written the way git does it: never through a symlink."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from llmc.core.landing.journal import Entry, Kind


def look_at(top: str, path: str) -> Entry | None:
    """None when there is nothing, or nothing that belongs to the checkout."""
    there = os.path.join(top, path)
    if is_barred(top, path):
        return None
    try:
        mode = os.lstat(there).st_mode
        if stat.S_ISLNK(mode):
            return Entry(Kind.LINK, os.fsencode(os.readlink(there)))
        if not stat.S_ISREG(mode):
            return Entry(Kind.OTHER)
        with open(there, "rb", opener=_open_as_it_is) as file:
            return Entry(Kind.PROGRAM if mode & stat.S_IXUSR else Kind.FILE, file.read())
    except FileNotFoundError:
        return None


def is_barred(top: str, path: str) -> bool:
    """Whether something else stands where a directory above the path would be: a file, or a symlink to anywhere."""
    above = os.path.dirname(path)
    if not above:
        return False
    if is_barred(top, above):
        return True
    try:
        return not stat.S_ISDIR(os.lstat(os.path.join(top, above)).st_mode)
    except FileNotFoundError:
        return False


def put(top: str, path: str, entry: Entry) -> None:
    """In place of what is there, with the directories above it. The file that is there goes first: disks are full."""
    there = os.path.join(top, path)
    remove(there)
    os.makedirs(os.path.dirname(there), exist_ok=True)
    if entry.kind is Kind.LINK:
        os.symlink(os.fsdecode(entry.content), there)
        return
    mode = 0o777 if entry.kind is Kind.PROGRAM else 0o666
    with open(os.open(there, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as file:
        file.write(entry.content)


def remove(path: str) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(path)


def remove_if_empty(path: str) -> bool:
    """Whether there was an empty directory."""
    try:
        os.rmdir(path)
    except OSError:
        return False
    return True


def holds_anything(path: str) -> bool:
    """Whether it is a directory with something in it."""
    try:
        with os.scandir(path) as found:
            return next(found, None) is not None
    except OSError:
        return False


def _open_as_it_is(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
