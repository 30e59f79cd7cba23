"""Finding processes by the variables that they were started with: those survive the loss of every parent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from llmc.host.processes import is_running, parent_of
from llmc.values import dataclass

COMMAND_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Marked:
    pid: int
    variables: Mapping[str, str]
    command: str


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
        if _name(pid).startswith(program) and f"{_directory(pid)}/".startswith(inside):
            yield pid


def _own_line() -> set[int]:
    line, pid = set(), os.getpid()
    while pid > 1 and pid not in line:
        line.add(pid)
        pid = parent_of(pid) or 0
    return line


def _own_processes() -> Iterator[int]:
    user = os.geteuid()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if path.stat().st_uid == user:
                yield int(path.name)
        except OSError:
            continue  # it has just ended


def _marked(pid: int, wanted: Mapping[str, str]) -> Marked | None:
    variables = _environment(pid)
    if any(not variables.get(name) or (value and variables[name] != value) for name, value in wanted.items()):
        return None
    return Marked(pid, {name: variables[name] for name in wanted}, command_of(pid)) if is_running(pid) else None


def _environment(pid: int) -> dict[str, str]:
    entries = _read(pid, "environ").split("\0")
    return {name: value for name, equals, value in (entry.partition("=") for entry in entries) if equals}


def command_of(pid: int) -> str:
    return _read(pid, "cmdline").replace("\0", " ").strip()[:COMMAND_SHOWN] or _name(pid)


def _name(pid: int) -> str:
    return _read(pid, "comm").strip()


def _directory(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def _read(pid: int, what: str) -> str:
    try:
        return os.fsdecode(Path(f"/proc/{pid}/{what}").read_bytes())
    except OSError:
        return ""
