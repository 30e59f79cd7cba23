"""`bad/` in a spool: what was no report, with a note on each. Bounded, and itself never followed when it is a link."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from contextlib import suppress

from llmc.core.display import one_line
from llmc.host.files import opened

BAD = "bad"
KEPT_BAD = 50
KEPT_BYTES = 64 << 10
LARGE_BYTES = 8 << 20
LONGEST_NOTE = 500


def set_aside(spool: int, why: Mapping[str, str]) -> None:
    """Moves these entries of the spool into `bad/`. What cannot be moved stays, and stops nobody."""
    if not why:
        return
    _make(spool)
    with opened(BAD, within=spool) as bad:
        if bad is None:
            return
        for name, reason in why.items():
            with suppress(OSError):  # a full disk must not stop the queue
                kept_as = _free_name()
                os.rename(name, kept_as, src_dir_fd=spool, dst_dir_fd=bad)
                _describe(bad, kept_as, f"{name}: {reason}")
        _forget_old(bad)


def stands_aside(path: str, spool: int) -> None:
    """What stood in place of a spool goes into the new one."""
    os.mkdir(BAD, 0o700, dir_fd=spool)
    with opened(BAD, within=spool) as bad:
        assert bad is not None
        kept_as = _free_name()
        os.rename(path, kept_as, dst_dir_fd=bad)
        _describe(bad, kept_as, f"{os.path.basename(path)}: not a directory")


def count_bad(spool: int) -> int:
    with opened(BAD, within=spool) as bad:
        return len(_kept(bad)) if bad is not None else 0


def _kept(bad: int) -> list[str]:
    with os.scandir(bad) as entries:
        return sorted(entry.name for entry in entries if entry.name.endswith(".json"))


def _make(spool: int) -> None:
    with suppress(FileExistsError, OSError):
        os.mkdir(BAD, 0o700, dir_fd=spool)
    with opened(BAD, within=spool) as bad:
        if bad is not None:
            return
    moved = f"{BAD}-{_free_name()}"
    with suppress(OSError):
        os.rename(BAD, moved, src_dir_fd=spool, dst_dir_fd=spool)
        os.mkdir(BAD, 0o700, dir_fd=spool)
        set_aside(spool, {moved: f"{BAD} was not a directory"})


def _free_name() -> str:
    return f"{time.time_ns()}-{os.urandom(2).hex()}.json"


def _describe(bad: int, kept_as: str, note: str) -> None:
    with suppress(OSError):
        found = os.stat(kept_as, dir_fd=bad, follow_symlinks=False)
        if stat.S_ISREG(found.st_mode) and found.st_size > LARGE_BYTES and found.st_nlink == 1:
            _cut(bad, kept_as)
    with suppress(OSError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(_note_of(kept_as), flags, 0o600, dir_fd=bad)
        with open(fd, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(one_line(note, LONGEST_NOTE) + "\n")


def _cut(bad: int, name: str) -> None:
    """Its beginning tells what it was. A file with another name elsewhere is not ours to cut."""
    fd = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=bad)
    try:
        os.ftruncate(fd, KEPT_BYTES)
    finally:
        os.close(fd)


def _note_of(name: str) -> str:
    return f"{name.removesuffix('.json')}.note"


def _forget_old(bad: int) -> None:
    """The oldest go. A directory with something in it stays: whose that is, nobody knows."""
    for old in _kept(bad)[:-KEPT_BAD]:
        with suppress(OSError):
            _remove(bad, old)
            os.unlink(_note_of(old), dir_fd=bad)


def _remove(bad: int, name: str) -> None:
    if stat.S_ISDIR(os.stat(name, dir_fd=bad, follow_symlinks=False).st_mode):
        os.rmdir(name, dir_fd=bad)
    else:
        os.unlink(name, dir_fd=bad)
