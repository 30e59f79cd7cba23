"""Claude Code keeps a file for each of its processes that says what it is doing. Undocumented: one more signal."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from llmc.core.screen.assessment import Assessment
from llmc.host.files import open_plain

STATES = {"idle": "READY", "shell": "READY", "busy": "BUSY", "waiting": "NEEDS_CONFIRMATION"}
CONFIDENCE = 0.95
LARGEST = 65536


def read_session_file(home: str, pids: Iterable[int]) -> Assessment | None:
    """What the file of the first of these processes that has one says."""
    told = (_read(os.path.join(home, ".claude", "sessions", f"{pid}.json")) for pid in pids)
    return next((each for each in told if each is not None), None)


def _read(path: str) -> Assessment | None:
    try:
        with open_plain(path) as file:
            said = json.loads(file.read(LARGEST))
            at = os.fstat(file.fileno()).st_mtime
        state = STATES[said["status"]]
        waits_for = said.get("waitingFor")
    except (OSError, ValueError, KeyError, TypeError):
        return None
    detail = "permission" if state == "NEEDS_CONFIRMATION" and "permission" in str(waits_for) else None
    summary = str(waits_for or "")
    return Assessment(state=state, detail=detail, confidence=CONFIDENCE, source="session", at_unix=at, summary=summary)
