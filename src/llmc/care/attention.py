"""What each agent last told of itself: shown and used to be careful, never kept as the truth."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from llmc.agents.reports import Report
from llmc.core.display import one_line
from llmc.core.screen.assessment import Assessment
from llmc.host.files import make_own_directory, write_atomically
from llmc.store.snapshot import told_state

BY_REPORT = {
    "session_start": ("READY", None),
    "prompt": ("BUSY", None),
    "activity": ("BUSY", None),
    "permission": ("NEEDS_CONFIRMATION", "permission"),
    "question": ("NEEDS_CONFIRMATION", "question"),
    "turn_end": ("READY", None),
    "interrupted": ("READY", "interrupted"),
    "session_end": ("READY", None),
}
FAILURES = frozenset(("rate_limit", "api", "network", "auth"))
ENDS = frozenset(("failure", "interrupted", "turn_end"))
"""A turn that failed or was interrupted ends, too: which of them it was is what there is to tell."""
LONGEST_SUMMARY = 200


def telling(reports: Sequence[tuple[Report, float]]) -> tuple[Report, float] | None:
    """The last one that says what the agent does now; None where none of them does."""
    found = [each for each in reports if each[0].kind == "failure" or each[0].kind in BY_REPORT]
    while len(found) > 1 and found[-1][0].kind == "turn_end" and found[-2][0].kind in ENDS:
        found.pop()
    return found[-1] if found else None


def keep_report(path: str, report: Report, at: float) -> None:
    """A turn that failed ends, too: until the agent does something again, the failure is what there is to tell."""
    if report.kind == "failure":
        _write(path, "ERROR", report.failure if report.failure in FAILURES else "api", report, at)
    elif report.kind in BY_REPORT and not (report.kind == "turn_end" and told_state(path) == "ERROR"):
        _write(path, *BY_REPORT[report.kind], report, at)


def _write(path: str, state: str, detail: str | None, report: Report, at: float) -> None:
    summary = "" if state in ("READY", "BUSY") else one_line(report.text, LONGEST_SUMMARY)
    told = Assessment(state=state, detail=detail, confidence=1.0, source="hook", at_unix=at, summary=summary)
    make_own_directory(str(Path(path).parent))
    write_atomically(Path(path), json.dumps(told))
