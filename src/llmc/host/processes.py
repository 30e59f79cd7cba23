"""Processes: who runs, what they have open, finding them, and ending them with everything that they started."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from llmc.values import Value

GRACE_SECS = 3.0
PAUSE_SECS = 0.02
COMMAND_SHOWN = 60
PROGRAM_STARTS_SECS = 1.0
TERMINAL_TIME_SECS = 10.0
START_IS_KNOWN_TO_SECS = 2.0
"""The process table counts in ticks since a boot that is known to a second."""


class _Entry(Value):
    """One line of the process table."""

    state: str
    parent: int
    group: int
    session: int


class Marked(Value):
    """A process that was found by the variables that it was started with: those survive the loss of every parent."""

    pid: int
    variables: Mapping[str, str]
    command: str


class LockFileUser(Value):
    pid: int
    command: str

    def __str__(self) -> str:
        return f"`{self.command}` (pid {self.pid})"


def can_look_around() -> bool:
    """Whether the system tells what other processes do."""
    return os.path.exists("/proc/self")


def is_running(pid: int) -> bool:
    """Whether the process lives. A zombie is dead, though its number is still taken."""
    entry = _look_up(pid)
    if entry is not None:
        return entry.state not in "ZX"
    if can_look_around():
        return False
    return exists(pid)


def known_as(pid: int) -> int:
    """Its number where it runs: in a fence it has another one."""
    lines = (line.split() for line in _told(pid, "status").splitlines() if line.startswith("NSpid:"))
    return int(next(lines, [str(pid)])[-1])


def exists(pid: int) -> bool:
    """Whether the number is taken, be it by a zombie."""
    try:
        os.kill(pid, 0)
    except OSError as error:
        return error.errno != errno.ESRCH
    return True


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


def name_of(pid: int) -> str:
    """The system's own name for the program: tmux cuts one whose path has a space in it."""
    return _told(pid, "comm").strip()


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
    ask_to_end(pids)
    if not wait_for_end(pids, grace):
        kill(pids)
        wait_for_end(pids, grace)


def ask_to_end(pids: list[int]) -> None:
    for pid in pids:
        _send(pid, signal.SIGTERM)


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


def open_end_of(pid: int) -> int | None:
    """A file that can be read when the process ends; None when it has, or where the system has no such file."""
    if not hasattr(os, "pidfd_open"):
        return None
    with suppress(OSError):
        return os.pidfd_open(pid)
    return None


def remind_of_children(pid: int) -> None:
    """Lets a process look again which of its children have ended."""
    _send(pid, signal.SIGCHLD)


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def running() -> list[int]:
    """Everybody who can be seen; nobody where there is no /proc."""
    return [pid for pid, entry in _process_table() if entry.state not in "ZX"]


def marked_processes(**wanted: str) -> list[Marked]:
    """Every process of this user's whose environment has these values. Never this one, nor whatever started it.

    An empty value means any. Empty where there is no /proc.
    """
    spared = _own_line()
    found = (_marked(pid, wanted) for pid in _own_processes() if pid not in spared)
    return [each for each in found if each is not None]


def works_in(directory: str, program: str) -> bool:
    """Whether a program of that name runs with its working directory there or below."""
    return next(programs_in(directory, program), None) is not None


def programs_in(directory: str, program: str) -> Iterator[int]:
    """Who runs a program of that name with their working directory there or below."""
    inside = f"{directory.rstrip('/')}/"
    for pid in _own_processes():
        if _told(pid, "comm").startswith(program) and f"{_directory(pid)}/".startswith(inside):
            yield pid


def who_works_in(directory: str, since: float) -> tuple[bool, frozenset[str]]:
    """Whether a person may, and which workers do: whose programs have their working directory there or below.

    A shell at whose terminal nothing has happened since then does nothing; an editor may, and has none.
    """
    inside, person, workers = f"{directory.rstrip('/')}/", False, set()
    for pid in _own_processes():
        if pid == os.getpid() or not f"{_directory(pid)}/".startswith(inside) or name_of(pid).startswith("tmux"):
            continue
        marked = _marked(pid, {"LLMC_WORKER": ""})
        if marked is not None:
            workers.add(marked.variables["LLMC_WORKER"])
        else:
            person = person or _was_used(pid, since)
    return person, frozenset(workers)


def _was_used(pid: int, since: float) -> bool:
    try:
        terminal = os.readlink(f"/proc/{pid}/fd/0")
        seen = os.stat(terminal) if terminal.startswith(("/dev/pts/", "/dev/tty")) else None
    except OSError:
        return True
    # The kernel keeps these times to eight seconds, so that nobody can count keys by them.
    return seen is None or max(seen.st_mtime, seen.st_atime) >= since - TERMINAL_TIME_SECS


def _own_line() -> set[int]:
    line, pid = set(), os.getpid()
    while pid > 1 and pid not in line:
        line.add(pid)
        pid = parent_of(pid) or 0
    return line


def _own_processes() -> Iterator[int]:
    user = os.geteuid()
    for pid in _numbers():
        with suppress(OSError):  # it has just ended
            if os.stat(f"/proc/{pid}").st_uid == user:
                yield pid


def _marked(pid: int, wanted: Mapping[str, str]) -> Marked | None:
    entries = _environment(pid).split("\0")
    variables = {name: value for name, equals, value in (entry.partition("=") for entry in entries) if equals}
    if any(not variables.get(name) or (value and variables[name] != value) for name, value in wanted.items()):
        return None
    return Marked(pid, {name: variables[name] for name in wanted}, command_of(pid)) if is_running(pid) else None


def _environment(pid: int) -> str:
    """For a moment a process that starts another program has neither variables nor words: it is waited for."""
    until = time.monotonic() + PROGRAM_STARTS_SECS
    while not (variables := _told(pid, "environ")) and time.monotonic() < until:
        if not _starts_a_program(pid):
            return _told(pid, "environ")  # it may have them since
        time.sleep(PAUSE_SECS / 10)
    return variables


def _starts_a_program(pid: int) -> bool:
    """Not a thread of the kernel, nor a zombie: these have no program at all."""
    try:
        return not _told(pid, "cmdline") and bool(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return False


def holder_of(
    lock: str, made_unix: float, places: tuple[str, ...], program: str, only_reads: Callable[[str], bool]
) -> LockFileUser | None:
    """Whoever has it open, else a program that works in one of the places and is older than the lock.

    Git closes a lock file long before it gives it back: `git commit` waits for an editor meanwhile.
    """
    real = os.path.realpath(lock)
    for pid in running():
        if real in open_files(pid):
            return LockFileUser(pid, command_of(pid))
    for place in places:
        for pid in programs_in(place, program):
            command = command_of(pid)
            older = started_at(pid) <= made_unix + START_IS_KNOWN_TO_SECS
            if older and not only_reads(command) and is_running(pid):
                return LockFileUser(pid, command)
    return None


def command_of(pid: int) -> str:
    return _told(pid, "cmdline").replace("\0", " ").strip()[:COMMAND_SHOWN] or _told(pid, "comm").strip()


def _process_table() -> Iterator[tuple[int, _Entry]]:
    for pid in _numbers():
        entry = _look_up(pid)
        if entry is not None:
            yield pid, entry


def _numbers() -> Iterator[int]:
    with suppress(OSError):
        yield from map(int, filter(str.isdecimal, os.listdir("/proc")))


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


def _directory(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def _told(pid: int, what: str) -> str:
    """Empty of a process that has just ended, or that is somebody else's."""
    try:
        with open(f"/proc/{pid}/{what}", "rb") as file:
            return os.fsdecode(file.read())
    except OSError:
        return ""
