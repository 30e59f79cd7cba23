"""The daemon's socket for whoever has something to say to a machine: one question, one answer."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from llmc.fleet.reach import UnreachableError
from llmc.fleet.wire import encode_line
from llmc.root import Root

CONNECTS_WITHIN_SECS = 2.0


@contextmanager
def short_path(root: Root) -> Iterator[str]:
    """A socket's path may have 107 bytes, and a root's may be longer."""
    directory, name = os.path.split(root.switchboard)
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        near = f"/dev/fd/{fd}"
        yield f"{near}/{name}" if len(os.fsencode(root.switchboard)) > 100 and os.path.isdir(near) else root.switchboard
    finally:
        os.close(fd)


def ask_switchboard(root: Root, machine: str, order: dict[str, Any], within: float) -> dict[str, Any] | None:
    """None when nobody listens there, or not for that machine yet. Raises UnreachableError for the machine."""
    if not os.path.exists(root.switchboard):
        return None
    with socket.socket(socket.AF_UNIX) as asking, suppress(ConnectionError, FileNotFoundError):
        asking.settimeout(CONNECTS_WITHIN_SECS)
        with short_path(root) as path:
            asking.connect(path)
        asking.settimeout(within)
        asking.sendall(encode_line({"machine": machine, "within": within, "order": order}))
        return _answer_of(asking)
    return None


def _answer_of(asking: socket.socket) -> dict[str, Any] | None:
    try:
        with asking.makefile("rb") as answers:
            said = json.loads(answers.readline() or b"null")
    except (TimeoutError, ConnectionError, ValueError):
        said = None
    if said is None:  # the daemon has ended meanwhile
        raise UnreachableError("the daemon has ended before the machine answered", "try again", was_sent=True)
    if "unreachable" in said:
        raise UnreachableError(said["unreachable"], said["hint"], was_sent=bool(said["sent"]))
    return None if "unattended" in said else dict(said)
