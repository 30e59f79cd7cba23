"""The calls of Linux that Python 3.11 does not have."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path

NEW_MOUNTS, NEW_NAMES, NEW_IPC, NEW_PIDS, NEW_NETWORK = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000
DETACH = 2

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(*spaces: int) -> None:
    _call("unshare", _libc.unshare(sum(spaces)))


def mount(kind: str, where: str, options: str = "", source: str = "none", flags: int = 0) -> None:
    words = [word.encode() for word in (source, where, kind)]
    _call(f"mount {where}", _libc.mount(*words, ctypes.c_ulong(flags), options.encode()))


def bind(source: str, where: str, flags: int = 0) -> None:
    mount("", where, source=source, flags=BIND | flags)


def make_private() -> None:
    """What is mounted from now on is seen by nobody outside."""
    mount("", "/", flags=RECURSIVE | PRIVATE)


def move_root(where: str) -> None:
    """The file tree at `where` is all that there is from now on."""
    os.chdir(where)
    subprocess.run(["pivot_root", ".", "."], check=True)
    _call("umount", _libc.umount2(b".", DETACH))
    os.chdir("/")


def name_host(name: str) -> None:
    socket.sethostname(name)


def ip(*lines: str) -> None:
    """`ip LINE` for each of them."""
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines).encode(), check=True, capture_output=True)


def write(files: Iterable[tuple[str, str]], below: str = "") -> None:
    for name, text in files:
        path = Path(below + name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _call(what: str, answer: int) -> None:
    if answer != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
