"""`logs/<worker>.log`: one JSON object per line, from any number of processes, bounded by rotation."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from llmc.errors import LlmcError
from llmc.host import try_lock
from llmc.host.files import disk_errors, leads_to, open_own, open_to_read
from llmc.model import Json

ROTATION_SECONDS = 1.0
"""Longer than any rotation, which is a few renames; after that, a line in an old file is better than none."""


class WorkerLog:
    """A full file becomes `.1`, that one `.2`, and so on up to `keep`. `warn` hears why a line was not written."""

    def __init__(
        self,
        directory: Path | str,
        *,
        max_bytes: int = 2 << 20,
        keep: int = 3,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.directory = Path(directory)
        self._max_bytes = max_bytes
        self._keep = keep
        self._warn = warn

    def append(self, worker: str, *entries: Mapping[str, Json]) -> bool:
        """False, and a warning, when the disk refuses."""
        lines = b"".join(json.dumps(dict(entry), default=str).encode() + b"\n" for entry in entries)
        names = self._names(worker)
        try:
            with disk_errors(names[0]):
                self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._write(names, lines)
        except LlmcError as error:
            self._warn(f"the log of {worker} was not written: {error}")
            return False
        return True

    def tail(self, worker: str, lines: int) -> list[str]:
        """The last lines, oldest first; older files are opened only when needed."""
        return list(self.follow(worker, lambda: False, lines=lines))

    def follow(self, worker: str, wait: Callable[[], bool], *, lines: int = 0) -> Iterator[str]:
        """The last `lines`, then each new one, across rotation. `wait` waits for more; False from it ends this."""
        place = _Place(self._names(worker))
        try:
            yield from place.skip_to_end(lines)
            while wait():
                yield from place.new_lines()
        finally:
            place.close()

    def _names(self, worker: str) -> list[Path]:
        """From the newest to the oldest."""
        if not worker or worker.startswith(".") or "/" in worker:
            raise ValueError(f"{worker!r} cannot be the name of a worker")
        newest = self.directory / f"{worker}.log"
        return [newest, *(self.directory / f"{worker}.log.{age}" for age in range(1, self._keep + 1))]

    def _write(self, names: list[Path], lines: bytes) -> None:
        fd = _open_shared(names[0])
        try:
            full = _write_lines(fd, lines) > self._max_bytes
            # Whoever does not get the file for itself leaves the rotation to the next line.
            if full and try_lock(fd) and leads_to(names[0], fd):
                for newer, older in reversed(list(pairwise(names))):
                    with suppress(FileNotFoundError):
                        newer.rename(older)
        finally:
            os.close(fd)


class _Place:
    """Where a reader is: in which file, whatever its name is by now, and how far."""

    def __init__(self, names: list[Path]) -> None:
        self._names = names
        self._file: BinaryIO | None = None
        self._partial = b""

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._partial = None, b""

    def skip_to_end(self, lines: int) -> list[str]:
        """Moves to the end of the newest file; the last lines up to there."""
        self._file = _open(self._names[0])
        found = self._read()
        older = self._older_contents()
        while len(found) < lines and (content := next(older, None)) is not None:
            found = _lines(content) + found
        return found[max(0, len(found) - lines) :]

    def new_lines(self) -> Iterator[str]:
        while True:
            following = self._following()  # before reading: then the file is complete when we leave it
            yield from self._read()
            if following is None:
                return
            self.close()
            self._file = following

    def _read(self) -> list[str]:
        if self._file is None:
            return []
        if os.fstat(self._file.fileno()).st_size < self._file.tell():  # somebody emptied it
            self._file.seek(0)
            self._partial = b""
        complete, _, self._partial = (self._partial + self._file.read()).rpartition(b"\n")
        return _lines(complete)

    def _older_contents(self) -> Iterator[bytes]:
        seen = set() if self._file is None else {_inode(self._file)}
        for name in self._names[1:]:
            if (file := _open(name)) is not None:
                with file:
                    # After a rotation meanwhile, the next name leads to the file that was just read.
                    if _inode(file) not in seen:
                        yield file.read()
                    seen.add(_inode(file))

    def _following(self) -> BinaryIO | None:
        """The file after the present one, if that one was rotated away."""
        if self._file is None:
            return _open(self._names[0])
        here = self._file.fileno()
        if os.fstat(here).st_nlink == 0:
            return self._oldest_since(os.fstat(here).st_mtime_ns)
        for newer, older in pairwise(self._names):
            if leads_to(older, here):
                file = _open(newer)
                # Names move from the oldest on: if ours has not moved meanwhile, neither had the newer one.
                if file is None or leads_to(older, here):
                    return file
                file.close()
        return None

    def _oldest_since(self, mtime_ns: int) -> BinaryIO | None:
        for name in reversed(self._names):
            file = _open(name)
            if file is not None and os.fstat(file.fileno()).st_mtime_ns >= mtime_ns:
                return file
            if file is not None:
                file.close()
        return None


def _open_shared(path: Path) -> int:
    """The newest file, locked against rotation, so that no line goes to a file that its readers have left."""
    deadline = time.monotonic() + ROTATION_SECONDS
    while True:
        fd = open_own(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            if (try_lock(fd, shared=True) and leads_to(path, fd)) or time.monotonic() > deadline:
                return fd
        except OSError:
            os.close(fd)
            raise
        os.close(fd)
        time.sleep(0.001)


def _write_lines(fd: int, lines: bytes) -> int:
    """In one piece, so that lines of several processes never mix. The size of the file afterwards."""
    size = os.fstat(fd).st_size
    if size and os.pread(fd, 1, size - 1) != b"\n":
        lines = b"\n" + lines  # a full disk once cut a line short
    if os.write(fd, lines) < len(lines):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return size + len(lines)


def _open(path: Path) -> BinaryIO | None:
    fd = open_to_read(path)
    return open(fd, "rb") if fd is not None else None


def _inode(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_ino


def _lines(content: bytes) -> list[str]:
    return [line for line in content.decode("utf-8", "replace").split("\n") if line]
