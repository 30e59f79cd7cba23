"""Noticing changes of files without looking at them all the time.

Linux tells by inotify. Elsewhere the same interface looks once a second: slower, never wrong.
"""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Protocol

LOOK_EVERY_SECS = 1.0


class Watch(Protocol):
    """Paths under names; `changed()` tells the names whose paths changed since it was last asked."""

    def fileno(self) -> int | None:
        """To wait on; None when there is nothing to wait on and one has to look."""

    def add(self, path: str, name: str, only: frozenset[str] = frozenset()) -> bool:
        """Watches a file, or a directory for all or `only` some of its entries.

        False when the path is not there (yet).
        """

    def forget(self, name: str) -> None: ...

    def changed(self) -> set[str]: ...

    def close(self) -> None: ...


def open_watch() -> Watch:
    if sys.platform == "linux":
        with suppress(OSError):  # the system has no more watches to give; looking works all the same
            return InotifyWatch()
    return LookingWatch()


def wait_for_change(watch: Watch, limit: float) -> set[str]:
    """What changed, as soon as something does; empty when nothing did for `limit` seconds."""
    fd = watch.fileno()
    if fd is None:
        time.sleep(min(limit, LOOK_EVERY_SECS))
    else:
        select.select([fd], [], [], limit)
    return watch.changed()


@dataclass(slots=True)
class _Watched:
    path: str
    names: dict[str, frozenset[str]] = field(default_factory=dict)
    """Who wants to know, and about which entries only."""


class InotifyWatch:
    def __init__(self) -> None:
        from ctypes import CDLL

        import inotify_simple
        from inotify_simple import INotify, flags

        # inotify_simple 2.0 starts `ldconfig` to find the C library, which this process has long loaded.
        inotify_simple._libc = inotify_simple._libc or CDLL(None, use_errno=True)
        self._inotify = INotify(nonblocking=True)
        self._flags = (
            flags.CREATE | flags.DELETE | flags.MOVED_TO | flags.MOVED_FROM | flags.MODIFY | flags.ATTRIB
            | flags.DELETE_SELF
        )  # fmt: skip
        self._overflow, self._ignored = flags.Q_OVERFLOW, flags.IGNORED
        self._watched: dict[int, _Watched] = {}

    def fileno(self) -> int:
        return int(self._inotify.fileno())

    def add(self, path: str, name: str, only: frozenset[str] = frozenset()) -> bool:
        with suppress(OSError):  # not there, not ours to read, or more paths than the system lets us watch
            number = self._inotify.add_watch(path, self._flags)
            self._watched.setdefault(number, _Watched(path)).names[name] = only
            return True
        return False

    def forget(self, name: str) -> None:
        for number, watched in list(self._watched.items()):
            watched.names.pop(name, None)
            if not watched.names:
                del self._watched[number]
                with suppress(OSError):
                    self._inotify.rm_watch(number)

    def changed(self) -> set[str]:
        names: set[str] = set()
        for event in self._inotify.read(timeout=0):
            if event.mask & self._overflow:
                return {name for watched in self._watched.values() for name in watched.names}
            watched = self._watched.get(event.wd)
            if watched is None:
                continue
            names |= {name for name, only in watched.names.items() if not (only and event.name) or event.name in only}
            if event.mask & self._ignored:
                self._follow(event.wd)
        return names

    def _follow(self, number: int) -> None:
        """The file is no more; another one may have taken its place."""
        watched = self._watched.pop(number)
        for name, only in watched.names.items():
            self.add(watched.path, name, only)

    def close(self) -> None:
        # Linux may take 15 ms to let go of the watches: nobody has to wait for that.
        Thread(target=self._inotify.close, daemon=True).start()


class LookingWatch:
    """Compares time stamps; for systems without inotify."""

    def __init__(self) -> None:
        self._stamps: dict[tuple[str, str, frozenset[str]], object] = {}

    def fileno(self) -> None:
        return None

    def add(self, path: str, name: str, only: frozenset[str] = frozenset()) -> bool:
        self._stamps.setdefault((path, name, only), _stamp(path, only))
        return os.path.lexists(path)

    def forget(self, name: str) -> None:
        self._stamps = {key: stamp for key, stamp in self._stamps.items() if key[1] != name}

    def changed(self) -> set[str]:
        now = {(path, name, only): _stamp(path, only) for path, name, only in self._stamps}
        names = {key[1] for key, stamp in now.items() if stamp != self._stamps[key]}
        self._stamps.update(now)
        return names

    def close(self) -> None:
        self._stamps.clear()


def _stamp(path: str, only: frozenset[str]) -> object:
    """Differs whenever the file, or one of the directory's entries, has changed."""
    try:
        status = os.stat(path)
        if not stat.S_ISDIR(status.st_mode):
            return _mark(status)
        with os.scandir(path) as entries:
            wanted = [entry for entry in entries if not only or entry.name in only]
            return status.st_ino, sorted((entry.name, _mark(entry.stat(follow_symlinks=False))) for entry in wanted)
    except OSError:
        return None


def _mark(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_mtime_ns, status.st_size
