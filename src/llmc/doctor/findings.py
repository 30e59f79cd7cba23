"""Everything that `llmc doctor` can find, each with a code that stays and with its repair."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llmc.doctor.kinds import Kind, Severity
from llmc.doctor.kinds_machine import MACHINE_KINDS
from llmc.doctor.kinds_repository import REPOSITORY_KINDS
from llmc.doctor.kinds_workers import WORKER_KINDS


@dataclass(frozen=True, slots=True)
class Finding:
    code: str
    severity: Severity
    what: str
    why: str
    repair: str
    worker: str | None = None
    subject: str = ""
    """What it is about where that is no worker: a path, a branch, a session, a setting."""


_KINDS = (*MACHINE_KINDS, *REPOSITORY_KINDS, *WORKER_KINDS)

KINDS: Mapping[str, Kind] = {kind.code: kind for kind in _KINDS}
TOPICS: tuple[str, ...] = tuple(dict.fromkeys(kind.topic for kind in _KINDS if kind.topic))


def finding(
    code: str,
    what: str,
    why: str = "",
    *,
    worker: str | None = None,
    severity: Severity | None = None,
    repair: str | None = None,
    subject: str = "",
    **places: str,
) -> Finding:
    """A finding of that kind; severity and repair are those of the kind unless they are given."""
    kind = KINDS[code]
    words = repair or kind.repair.format(worker=worker, **{name: shlex.quote(value) for name, value in places.items()})
    return Finding(code, severity or kind.severity, what, why, words, worker, subject)


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def some(names: Sequence[str], most: int = 5) -> str:
    """The names, or the first few and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def codes_table() -> str:
    """The table in docs/doctor.md."""
    rows = [f"| `{kind.code}` | {kind.severity} | {kind.meaning} | {_with_places(kind.repair)} |" for kind in _KINDS]
    return "\n".join(["| code | severity | meaning | repair |", "| --- | --- | --- | --- |", *rows])


def _with_places(repair: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda place: place[1].upper(), repair)
