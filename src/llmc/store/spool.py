"""The events that agents report: one file each, dropped into a directory, taken in the order in which they came.

Anything may turn up in a spool: agents run as the same user. Nothing in it is followed, nothing is waited for, and
what is no event goes to `bad/`, where it holds up nothing.
"""

from __future__ import annotations

import heapq
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from llmc.core.lifecycle.clocks import in_order, is_older, not_after
from llmc.host.files import disk_errors, is_replaced, make_own_directory, opened
from llmc.store.bad_reports import BAD, count_bad, set_aside, stands_aside
from llmc.values import Value

MAX_EVENT_BYTES = 4 << 20
MAX_BATCH_BYTES = 16 << 20
MOST_LOOKED_AT = 50_000
"""Of a flood, so many files are sorted at once."""
MOST_SET_ASIDE = 1000
MOST_PEEKED = 500


class SpooledEvent(Value):
    """One report; `at_unix` is when its file was written, or when it was seen if that is said to be still to come."""

    name: str
    at_unix: float
    data: dict[str, object]
    directory: str
    mark: str
    """Tells this file from all others, even from a later one of the same name."""


class _BadEventError(Exception):
    pass


def make_spool(directory: Path | str) -> None:
    """What stands in its place goes aside into it."""
    path = os.fspath(directory)
    with disk_errors(path):
        make_own_directory(os.path.dirname(path))
        if not is_replaced(path):
            Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)
            return
        new = f"{path}.new-{time.time_ns()}"
        os.mkdir(new, 0o700)
        with opened(new) as spool:
            assert spool is not None
            stands_aside(path, spool)
        os.rename(new, path)


def pending(directory: Path | str, *, limit: int = 256) -> list[SpooledEvent]:
    """The oldest events, `limit` at most: take them and ask again. Empty only when nothing is left.

    What is not an event goes aside with a note. Of a flood of that, some is left for the next time.
    """
    path = os.fspath(directory)
    with disk_errors(path):
        if is_replaced(path) or is_replaced(os.path.dirname(path)):
            make_spool(path)
        with _opened(path) as spool:
            return _pending(path, spool, limit) if spool is not None else []


def _pending(path: str, spool: int, limit: int) -> list[SpooledEvent]:
    tried: set[str] = set()
    while len(tried) < MOST_SET_ASIDE:
        files = heapq.nsmallest(limit, (file for file in _files(spool) if file.name not in tried))
        events, bad = _read_batch(path, spool, files)
        if bad:
            set_aside(spool, bad)
        if events or not bad:
            return events
        tried.update(bad)
    return []


def take(event: SpooledEvent) -> None:
    """Removes an event that was dealt with."""
    with disk_errors(event.directory), _opened(event.directory) as spool, suppress(FileNotFoundError):
        if spool is not None:
            os.unlink(event.name, dir_fd=spool)


def sweep(directory: Path | str, older_than_secs: float) -> None:
    """Removes what writers have begun and never finished, and sets aside what nobody writes there."""
    path = os.fspath(directory)
    now = time.time()
    with disk_errors(path), _opened(path) as spool:
        if spool is None:
            return
        strangers: dict[str, str] = {}
        for entry in _entries(spool):
            with suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                if not is_older(status.st_mtime, now, older_than_secs):
                    continue
                if entry.name.startswith(".") and stat.S_ISREG(status.st_mode):
                    os.unlink(entry.name, dir_fd=spool)
                elif entry.name != BAD and not _is_event(entry.name):
                    strangers[entry.name] = "not a report"
            if len(strangers) == MOST_SET_ASIDE:
                break
        set_aside(spool, strangers)


def peek(
    directory: Path | str, *, since_unix: float = 0.0, besides: frozenset[str] = frozenset()
) -> list[SpooledEvent]:
    """What came in since then and waits, in order, without those of these marks; everything stays where it is.

    Of a flood, the newest.
    """
    path = os.fspath(directory)
    found = []
    with disk_errors(path), _opened(path) as spool:
        if spool is None:
            return []
        wanted = (file for file in _files(spool) if file.at_unix >= since_unix and _mark(file) not in besides)
        for file in sorted(heapq.nlargest(MOST_PEEKED, wanted)):
            with suppress(FileNotFoundError, _BadEventError):
                found.append(_read(path, spool, file))
    return found


def marks(directory: Path | str) -> frozenset[str]:
    """Of all that waits: what comes in later has another."""
    path = os.fspath(directory)
    with disk_errors(path), _opened(path) as spool:
        return frozenset(_mark(file) for file in _files(spool)) if spool is not None else frozenset()


def look_into(directory: Path | str) -> tuple[list[float], int]:
    """The times of what waits, and how much was set aside."""
    with _opened(os.fspath(directory)) as spool:
        if spool is None:
            return [], 0
        return [file.at_unix for file in _files(spool)], count_bad(spool)


def has_events(directory: Path | str) -> bool:
    with _opened(os.fspath(directory)) as spool:
        return spool is not None and any(_is_event(entry.name) for entry in _entries(spool))


@contextmanager
def _opened(path: str) -> Iterator[int | None]:
    """The spool; None when there is none, or when it, or the directory of all spools, is a link."""
    directory, name = os.path.split(path)
    with opened(directory) as spools:
        if spools is None:
            yield None
            return
        with opened(name, within=spools) as spool:
            yield spool


class _File(NamedTuple):
    """In the order in which events are taken; a tuple, because a flood is sorted again for each batch."""

    order: tuple[bool, float]
    mtime_ns: int
    name: str
    size: int
    ctime_ns: int
    inode: int
    seen_unix: float

    @property
    def at_unix(self) -> float:
        return not_after(self.mtime_ns / 1e9, self.seen_unix)


def _is_event(name: str) -> bool:
    """Writers use other names until a file is complete, and then give it one that ends in `.json`."""
    return name.endswith(".json") and not name.startswith(".")


def _entries(spool: int) -> Iterator[os.DirEntry[str]]:
    with os.scandir(spool) as entries:
        yield from entries


def _files(spool: int) -> Iterator[_File]:
    now = time.time()
    for entry in islice((entry for entry in _entries(spool) if _is_event(entry.name)), MOST_LOOKED_AT):
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue  # taken meanwhile
        at = in_order(found.st_mtime, now)
        yield _File(at, found.st_mtime_ns, entry.name, found.st_size, found.st_ctime_ns, found.st_ino, now)


def _read_batch(path: str, spool: int, files: list[_File]) -> tuple[list[SpooledEvent], dict[str, str]]:
    """The events, and what the others are."""
    events: list[SpooledEvent] = []
    bad: dict[str, str] = {}
    size = 0
    for file in files:
        with suppress(FileNotFoundError):
            try:
                events.append(_read(path, spool, file))
            except _BadEventError as why:
                bad[file.name] = str(why)
        size += file.size
        if size > MAX_BATCH_BYTES:
            break
    return events, bad


def _read(path: str, spool: int, file: _File) -> SpooledEvent:
    try:
        data = json.loads(_content(spool, file.name))
    except (ValueError, RecursionError) as error:
        raise _BadEventError(f"not JSON: {error}") from error
    if not isinstance(data, dict):
        raise _BadEventError("not a JSON object")
    return SpooledEvent(file.name, file.at_unix, data, path, _mark(file))


def _mark(file: _File) -> str:
    import hashlib  # slow to load, and mostly there is no report

    told = f"{file.ctime_ns} {file.inode} ".encode() + os.fsencode(file.name)
    return hashlib.blake2b(told, digest_size=8).hexdigest()


def _content(spool: int, name: str) -> bytes:
    """Follows no link, and does not wait for the other end of a pipe."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=spool)
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise _BadEventError("not a file")
            content = file.read(MAX_EVENT_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _BadEventError(f"not readable: {error.strerror}") from error
    if len(content) > MAX_EVENT_BYTES:
        raise _BadEventError(f"larger than {MAX_EVENT_BYTES} bytes")
    return content
