"""What agents write into the spool, in LLMC's own words."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

KINDS = frozenset(
    ("session_start", "prompt", "activity", "turn_end", "permission", "question", "failure", "session_end")
)


@dataclass(frozen=True, slots=True)
class Report:
    kind: str
    text: str = ""
    sha256: str = ""
    background: bool = False
    failure: str = ""


def read_report(data: Mapping[str, object]) -> Report | None:
    """The report in an event file; None for one that says nothing to us."""
    kind = str(data.get("event", ""))
    if kind not in KINDS:
        return None
    text = next((str(data[key]) for key in ("text", "command", "tool", "message", "reason") if data.get(key)), "")
    digest = str(data.get("sha256") or (prompt_digest(text) if kind == "prompt" else ""))
    return Report(kind, text, digest, bool(data.get("background")), str(data.get("kind", "unknown")))


def prompt_digest(text: str) -> str:
    """The fingerprint by which a prompt is recognised when the agent reports it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
