"""What each agent seems to be doing right now: shown and used to be careful, never kept as the truth."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from llmc.agents.reports import Report
from llmc.core.classify import Reading
from llmc.site import Site

BY_REPORT = {
    "session_start": ("READY", None),
    "prompt": ("BUSY", None),
    "activity": ("BUSY", None),
    "permission": ("NEEDS_CONFIRMATION", "permission"),
    "question": ("NEEDS_CONFIRMATION", "question"),
    "turn_end": ("READY", None),
    "session_end": ("READY", None),
}
FAILURES = frozenset(("rate_limit", "api", "network", "auth"))
BY_HOOK = 1.0
"""A report says what is the case."""


def note_reports(site: Site, worker: str, reports: Sequence[tuple[Report, float]]) -> None:
    """The last one that says something tells what the agent does now."""
    for report, at in reversed(reports):
        if report.kind == "failure":
            detail = report.failure if report.failure in FAILURES else "api"
            return _write(site, worker, "ERROR", detail, "hook", BY_HOOK, at)
        if report.kind in BY_REPORT:
            return _write(site, worker, *BY_REPORT[report.kind], "hook", BY_HOOK, at)
    return None


def note_reading(site: Site, worker: str, reading: Reading, at: float) -> None:
    _write(site, worker, reading.state, reading.detail, "screen", reading.confidence, at)


def _write(site: Site, worker: str, state: str, detail: str | None, source: str, confidence: float, at: float) -> None:
    # A cache that the next look makes anew: atomic for readers, but not worth a sync to disk.
    path = Path(site.root.attention_file(worker))
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"state": state, "detail": detail, "confidence": confidence, "source": source, "at_unix": at}
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(data), encoding="utf-8")
    temporary.replace(path)
