"""Processes: who runs, what they have open, and ending them with everything that they started."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

from llmc.values import dataclass

GRACE_SECS = 3.0
PAUSE_SECS = 0.02


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of the process table."""

    state: str
    parent: int
    group: int
    session: int


def is_running(pid: int) -> bool:
    """Whether the process lives. A zombie is dead, though its number is still taken."""
    entry = _look_up(pid)
    if entry is not None:
        return entry.state not in "ZX"
    if os.path.exists("/proc/self"):
        return False
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def parent_of(pid: int) -> int | None:
    entry = _look_up(pid)
    return entry.parent if entry is not None else None


def foreground_of(pid: int) -> int | None:
    """The process group that the terminal of this process listens to; None where there is no /proc, or no terminal."""
    try:
        group = int(_fields(pid)[5])
    except (OSError, ValueError, IndexError):
        return None
    return group if group > 0 else None


def started_at(pid: int) -> float:
    """In seconds since the epoch, to a second or so; 0 where that is not known."""
    try:
        ticks = int(_fields(pid)[19])
        boot = next(line for line in _read("/proc/stat").splitlines() if line.startswith("btime "))
        return int(boot.split()[1]) + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, StopIteration):
        return 0.0


def script_of(pid: int) -> str:
    """The name of the file that an interpreter runs, without its ending; empty where nobody can tell."""
    try:
        words = _read(f"/proc/{pid}/cmdline").split("\0")[1:]
    except OSError:
        return ""
    path = next((word for word in words if word and not word.startswith("-")), "")
    return os.path.splitext(os.path.basename(path))[0]


def with_children(pid: int) -> Iterator[int]:
    """The process and those that it started, without a look at all others. It alone where the system cannot tell."""
    yield pid
    try:
        started = _read(f"/proc/{pid}/task/{pid}/children")
    except OSError:
        return
    for child in started.split():
        yield from with_children(int(child))


def open_files(pid: int) -> Iterator[str]:
    """The paths of what it has open; none where the system cannot tell, or will not."""
    try:
        numbers = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for number in numbers:
        with suppress(OSError):
            yield os.readlink(f"/proc/{pid}/fd/{number}")


def descendants(pid: int) -> list[int]:
    """All children of children, and who is in the group or session that the process leads: init may have
    adopted them from a parent that ended. Empty where there is no /proc.
    """
    if _stands_for_many(pid):
        return []
    below: dict[int, set[int]] = {}
    for number, entry in _process_table():
        for above in {entry.parent, entry.group, entry.session} - {number}:
            below.setdefault(above, set()).add(number)
    found: set[int] = set()
    queue = [pid]
    while queue:
        new = below.get(queue.pop(), set()) - found - {pid}
        found |= new
        queue += new
    return sorted(found)


def family(pid: int) -> list[int]:
    return [] if _stands_for_many(pid) else [pid, *descendants(pid)]


def _stands_for_many(pid: int) -> bool:
    """Init has everybody below it; zero and less mean whole groups of processes, ours among them."""
    return pid <= 1


def end_tree(pid: int, *, grace: float = GRACE_SECS) -> None:
    """TERM, wait, KILL: the process and everything under it, children that were handed on included."""
    end_all(family(pid), grace=grace)
    if left := [member for member in family(pid) if is_running(member)]:
        kill(left)
        wait_for_end(left, grace)


def end_all(pids: list[int], *, grace: float = GRACE_SECS) -> None:
    """TERM, wait, KILL."""
    for pid in pids:
        _send(pid, signal.SIGTERM)
    if not wait_for_end(pids, grace):
        kill(pids)
        wait_for_end(pids, grace)


def kill(pids: list[int]) -> None:
    for pid in pids:
        _send(pid, signal.SIGKILL)


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


def running() -> list[int]:
    """Everybody who can be seen; nobody where there is no /proc."""
    return [pid for pid, entry in _process_table() if entry.state not in "ZX"]


def _process_table() -> Iterator[tuple[int, _Entry]]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for pid in map(int, filter(str.isdecimal, names)):
        entry = _look_up(pid)
        if entry is not None:
            yield pid, entry


def _look_up(pid: int) -> _Entry | None:
    try:
        fields = _fields(pid)
    except OSError:
        return None
    return _Entry(fields[0], int(fields[1]), int(fields[2]), int(fields[3]))


def _fields(pid: int) -> list[str]:
    """What the process table says after the name of the program, which may hold anything."""
    return _read(f"/proc/{pid}/stat").rpartition(")")[2].split()


def _read(path: str) -> str:
    # No Path: it interns each of its parts, the daemon asks thousands of times a second, and the table of interned
    # strings, a megabyte in one piece, would be made anew every minute, each time in the memory of another thread.
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
