"""Noticing changes of files without looking at them all the time.

Linux tells by inotify. Elsewhere the same interface looks once a second: slower, never wrong.
"""

from __future__ import annotations

import os
import select
import sys
import time
from contextlib import suppress
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
    return InotifyWatch() if sys.platform == "linux" else LookingWatch()


def wait_for_change(watch: Watch, limit: float) -> set[str]:
    """What changed, as soon as something does; empty when nothing did for `limit` seconds."""
    fd = watch.fileno()
    if fd is None:
        time.sleep(min(limit, LOOK_EVERY_SECS))
    else:
        select.select([fd], [], [], limit)
    return watch.changed()


class InotifyWatch:
    def __init__(self) -> None:
        from inotify_simple import INotify, flags

        self._inotify = INotify(nonblocking=True)
        self._flags = (
            flags.CREATE | flags.DELETE | flags.MOVED_TO | flags.MOVED_FROM | flags.MODIFY | flags.ATTRIB
            | flags.DELETE_SELF
        )  # fmt: skip
        self._overflow = flags.Q_OVERFLOW
        self._names: dict[int, tuple[str, frozenset[str]]] = {}

    def fileno(self) -> int:
        return int(self._inotify.fileno())

    def add(self, path: str, name: str, only: frozenset[str] = frozenset()) -> bool:
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            self._names[self._inotify.add_watch(path, self._flags)] = (name, only)
            return True
        return False

    def forget(self, name: str) -> None:
        for number in [n for n, (known, _) in self._names.items() if known == name]:
            del self._names[number]
            with suppress(OSError):
                self._inotify.rm_watch(number)

    def changed(self) -> set[str]:
        names: set[str] = set()
        for event in self._inotify.read(timeout=0):
            if event.mask & self._overflow:
                return {name for name, _ in self._names.values()}
            name, only = self._names.get(event.wd, ("", frozenset()))
            if name and (not only or event.name in only):
                names.add(name)
        return names

    def close(self) -> None:
        self._inotify.close()


class LookingWatch:
    """Compares time stamps; for systems without inotify."""

    def __init__(self) -> None:
        self._stamps: dict[tuple[str, str], object] = {}

    def fileno(self) -> None:
        return None

    def add(self, path: str, name: str, only: frozenset[str] = frozenset()) -> bool:
        self._stamps[(path, name)] = _stamp(path)
        return os.path.lexists(path)

    def forget(self, name: str) -> None:
        self._stamps = {key: stamp for key, stamp in self._stamps.items() if key[1] != name}

    def changed(self) -> set[str]:
        now = {key: _stamp(key[0]) for key in self._stamps}
        names = {key[1] for key, stamp in now.items() if stamp != self._stamps[key]}
        self._stamps.update(now)
        return names

    def close(self) -> None:
        self._stamps.clear()


def _stamp(path: str) -> object:
    try:
        status = os.stat(path)
    except OSError:
        return None
    names = tuple(sorted(os.listdir(path))) if os.path.isdir(path) else ()
    return status.st_mtime_ns, status.st_size, names
