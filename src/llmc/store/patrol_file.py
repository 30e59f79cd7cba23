"""`run/patrol.json`: the report of the last patrol. Made anew by each one: a lost file loses only the counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from llmc.core.lifecycle.patrol import PatrolReport, with_counts
from llmc.host.files import write_atomically
from llmc.store.json_values import json_object
from llmc.store.snapshot import read_patrol


def read_report(path: str) -> dict[str, Any]:
    """What the file says, as plain values; empty when there is none, or none that can be read."""
    try:
        found = json.loads(Path(path).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def keep_report(path: str, report: PatrolReport) -> PatrolReport:
    """The report with what earlier ones have counted. Only the daemon, or who stands in for it, writes."""
    before = read_patrol(path)
    counts = before.get("counts")
    known = {kind: n for kind, n in counts.items() if isinstance(n, int)} if isinstance(counts, dict) else {}
    runs = before.get("runs")
    whole = with_counts(report, known, runs if isinstance(runs, int) else 0)
    write_atomically(Path(path), json.dumps(plain_report(whole)))
    return whole


def plain_report(report: PatrolReport) -> dict[str, Any]:
    return {**json_object(report), "took_secs": round(report.took_secs, 3)}
