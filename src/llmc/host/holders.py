"""Who may still use a lock file: whoever has it open, and programs that were at work there when it was made."""

from __future__ import annotations

import os
from collections.abc import Callable

from llmc.host.process_search import command_of, programs_in
from llmc.host.processes import is_running, open_files, running, started_at
from llmc.values import dataclass

START_IS_KNOWN_TO_SECS = 2.0
"""The process table counts in ticks since a boot that is known to a second."""


@dataclass(frozen=True, slots=True)
class LockFileUser:
    pid: int
    command: str

    def __str__(self) -> str:
        return f"`{self.command}` (pid {self.pid})"


def can_tell_holders() -> bool:
    return os.path.exists("/proc/self")


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
