"""What a patrol found: the values that its report is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from llmc.core.lifecycle.troubles import Trouble
from llmc.values import Value


class Miss(StrEnum):
    """What no signal told of. A count that grows means that this signal is broken."""

    SESSION = "session"
    REPORT = "report"
    BRANCH = "branch"
    PENDING = "pending"
    REBASE = "rebase"
    TIMER = "timer"
    STUCK = "stuck"
    WORKTREE = "worktree"


class PatrolReport(Value):
    """One patrol, and what all of them have repaired together."""

    last_run_unix: float
    took_secs: float = 0.0
    repaired: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """By worker, what this patrol has set right."""
    troubles: Mapping[str, tuple[Trouble, ...]] = field(default_factory=lambda: MappingProxyType({}))
    counts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """How often each kind was repaired, ever."""
    runs: int = 0


def with_counts(report: PatrolReport, before: Mapping[str, int], runs: int) -> PatrolReport:
    counts = {kind.value: before.get(kind.value, 0) for kind in Miss}
    for kinds in report.repaired.values():
        for kind in kinds:
            counts[kind] += 1
    return replace(report, counts=MappingProxyType(counts), runs=runs + 1)


def told(report: Mapping[str, Any]) -> str:
    """A report, as it is kept in its file, in sentences."""
    lines = [f"{name}: repaired what was missed: {', '.join(kinds)}" for name, kinds in report["repaired"].items()]
    for name, found in report["troubles"].items():
        lines += [f"{name}: {each['what']}; {each['do']}" for each in found]
    return "\n".join(lines) or "everything is as it should be"
