"""Ending processes with everything that they started."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

GRACE_SECS = 3.0
PAUSE_SECS = 0.02


def is_running(pid: int) -> bool:
    """Whether the process lives. A zombie is dead, though its number is still taken."""
    stat = _stat(pid)
    if stat is not None:
        return stat[0] not in "ZX"
    if Path("/proc/self").exists():
        return False
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def descendants(pid: int) -> list[int]:
    """All children of children, by the process table; empty where there is no /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        stat = _stat(int(entry.name))
        if stat is not None:
            children.setdefault(stat[1], []).append(int(entry.name))
    found: list[int] = []
    queue = [pid]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def end_tree(pid: int, *, grace: float = GRACE_SECS) -> None:
    """TERM, wait, KILL: the process and everything under it, children that were handed on included."""
    tree = [pid, *descendants(pid)]
    for member in tree:
        _send(member, signal.SIGTERM)
    if not wait_for_end(tree, grace):
        for member in tree:
            _send(member, signal.SIGKILL)
        wait_for_end(tree, grace)


def wait_for_end(pids: list[int], limit: float) -> bool:
    until = time.monotonic() + limit
    while any(is_running(pid) for pid in pids):
        if time.monotonic() >= until:
            return False
        time.sleep(PAUSE_SECS)
    return True


def remind_of_children(pid: int) -> None:
    """Lets a process look again which of its children have ended."""
    _send(pid, signal.SIGCHLD)


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _stat(pid: int) -> tuple[str, int] | None:
    """State letter and parent, from /proc."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return fields[0], int(fields[1])
