"""`run/checks/`: of each scratch worktree what is known of it, of each worker how the checks of its work stand.

`NUMBER.json` is written by whoever has that worktree alone, `WORKER.json` by whoever has just checked its work.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TypeVar

from llmc.core.schema import Record, record_of
from llmc.host.files import disk_errors, make_own_directory, read_own, write_atomically
from llmc.store.json_values import json_object
from llmc.values import Value

T = TypeVar("T")


class ScratchNote(Value):
    tree: str = ""
    """What is being checked in it; empty when nothing is."""
    ports: tuple[int, ...] = ()
    set_up: str = ""
    """The settings by which it was set up; empty when it was not."""
    fenced: bool = False
    """Whether what has run in it did so behind a fence."""


class WorkChecks(Value):
    """For whoever only looks: the results themselves are in `tasks.db`."""

    state: str = "none"
    """`passed`, `failed`, `running` or `none`."""
    commit: str = ""
    """The worker's commit whose work was checked."""
    tree: str = ""
    """What would land of it."""
    failed: str = ""
    """The command that said no."""
    at_unix: float = 0.0
    problem: str = ""
    """Why nobody knows, where it could not be checked."""


_NOTE = record_of(ScratchNote)
_CHECKS = record_of(WorkChecks)


def read_note(path: str) -> ScratchNote:
    return _read(path, _NOTE) or ScratchNote()


def read_checks(path: str) -> WorkChecks:
    return _read(path, _CHECKS) or WorkChecks()


def _read(path: str, record: Record[T]) -> T | None:
    """What cannot be read is as if it were not there: all of it can be found out again."""
    try:
        return record.read(json.loads(read_own(path)))
    except (OSError, ValueError):
        return None


def write_note(path: str, note: ScratchNote | WorkChecks) -> None:
    with disk_errors(path):
        make_own_directory(os.path.dirname(path))
        write_atomically(path, json.dumps(json_object(note)))


def scratch_ports(root: str) -> set[int]:
    """Those of all scratch worktrees there."""
    found: set[int] = set()
    with suppress(OSError):
        for name in os.listdir(os.path.join(root, "run", "checks")):
            if name.removesuffix(".json").isdecimal():
                found.update(read_note(os.path.join(root, "run", "checks", name)).ports)
    return found
