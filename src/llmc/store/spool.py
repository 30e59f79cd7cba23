"""The events that agents report: one file each, dropped into a directory, taken in the order in which they came."""

from __future__ import annotations

import hashlib
import heapq
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from llmc.store.lock import disk_errors

MAX_EVENT_BYTES = 4 << 20
MAX_BATCH_BYTES = 16 << 20
KEPT_BAD = 50
KEPT_BYTES = 64 << 10
BAD = "bad"


@dataclass(frozen=True, slots=True)
class SpooledEvent:
    """One report; `at_unix` is when its file was written."""

    name: str
    at_unix: float
    data: dict[str, object]
    directory: str
    mark: str
    """Tells this file from all others, even from a later one of the same name."""


class _BadEventError(Exception):
    pass


def make_spool(directory: Path | str) -> None:
    with disk_errors(directory):
        Path(directory).mkdir(mode=0o700, parents=True, exist_ok=True)


def pending(directory: Path | str, *, limit: int = 256) -> list[SpooledEvent]:
    """The oldest events, `limit` at most: take them and ask again. Empty only when nothing is left.

    What is not an event goes to `bad/` with a note, so that it holds up nothing.
    """
    with disk_errors(directory):
        while files := heapq.nsmallest(limit, _files(directory)):
            if events := _read_batch(directory, files):
                return events
        return []


def take(event: SpooledEvent) -> None:
    """Removes an event that was dealt with."""
    path = os.path.join(event.directory, event.name)
    with disk_errors(path), suppress(FileNotFoundError):
        os.unlink(path)


def sweep(directory: Path | str, older_than_unix: float) -> None:
    """Removes what writers have begun and never finished: they were ended on the way."""
    with disk_errors(directory), suppress(FileNotFoundError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.startswith(".") and entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    if entry.stat(follow_symlinks=False).st_mtime < older_than_unix:
                        os.unlink(entry.path)


def peek(directory: Path | str, *, since_unix: float = 0.0) -> list[tuple[dict[str, object], float]]:
    """What came in since then and waits, with the time of each, in order; everything stays where it is."""
    found = []
    with disk_errors(directory):
        for file in sorted(file for file in _files(directory) if file.mtime_ns >= since_unix * 1e9):
            with suppress(FileNotFoundError, _BadEventError):
                event = _read(directory, file)
                found.append((event.data, event.at_unix))
    return found


class _File(NamedTuple):
    """In the order in which events are taken; a tuple, because a flood is sorted again for each batch."""

    mtime_ns: int
    name: str
    size: int
    ctime_ns: int
    inode: int


def _files(directory: Path | str) -> Iterator[_File]:
    """Writers use other names until a file is complete, and then give it one that ends in `.json`."""
    with suppress(FileNotFoundError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith(".json") and not entry.name.startswith("."):
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # taken meanwhile
                yield _File(status.st_mtime_ns, entry.name, status.st_size, status.st_ctime_ns, status.st_ino)


def _read_batch(directory: Path | str, files: list[_File]) -> list[SpooledEvent]:
    events = []
    size = 0
    for file in files:
        with suppress(FileNotFoundError):
            try:
                events.append(_read(directory, file))
            except _BadEventError as bad:
                _set_aside(Path(directory), file.name, str(bad))
        size += file.size
        if size > MAX_BATCH_BYTES:
            break
    return events


def _read(directory: Path | str, file: _File) -> SpooledEvent:
    try:
        data = json.loads(_content(os.path.join(directory, file.name)))
    except (ValueError, RecursionError) as error:
        raise _BadEventError(f"not JSON: {error}") from error
    if not isinstance(data, dict):
        raise _BadEventError("not a JSON object")
    return SpooledEvent(file.name, file.mtime_ns / 1e9, data, str(directory), _mark(file))


def _mark(file: _File) -> str:
    return hashlib.blake2b(f"{file.ctime_ns} {file.inode} {file.name}".encode(), digest_size=8).hexdigest()


def _content(path: str) -> bytes:
    try:
        with open(path, "rb", opener=_open_as_it_is) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _BadEventError("not a file")
            content = file.read(MAX_EVENT_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _BadEventError(f"not readable: {error.strerror}") from error
    if len(content) > MAX_EVENT_BYTES:
        raise _BadEventError(f"larger than {MAX_EVENT_BYTES} bytes")
    return content


def _open_as_it_is(path: str, flags: int) -> int:
    """Follows no link, and does not wait for the other end of a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _set_aside(directory: Path, name: str, why: str) -> None:
    bad = directory / BAD
    bad.mkdir(mode=0o700, exist_ok=True)
    kept_as = bad / f"{time.time_ns()}.json"
    (directory / name).rename(kept_as)
    with suppress(OSError):
        if kept_as.is_file() and not kept_as.is_symlink() and kept_as.stat().st_size > 2 * MAX_EVENT_BYTES:
            os.truncate(kept_as, KEPT_BYTES)  # its beginning tells what it was
    with suppress(OSError):  # a full disk must not stop the queue
        kept_as.with_suffix(".note").write_text(f"{name}: {why}\n", encoding="utf-8", errors="backslashreplace")
    for old in sorted(bad.glob("*.json"))[:-KEPT_BAD]:
        for file in (old, old.with_suffix(".note")):
            with suppress(OSError):
                file.unlink()
