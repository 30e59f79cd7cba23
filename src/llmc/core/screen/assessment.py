"""What is said of a terminal: one mapping, from the screen or the agent's report to the status line.

The files hold it as JSON, so that whoever reads them passes on what is there. It costs nothing at run time: the status
line, which starts every few seconds, imports this for its types only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

SUMMARIES: Mapping[str, str] = {
    "READY": "waits for the next instruction",
    "BUSY": "is working",
    "NEEDS_CONFIRMATION": "waits for an answer",
    "ERROR": "stopped with an error",
    "EXITED": "has ended",
}
ACTIONS: Mapping[str, Sequence[str]] = {
    "NEEDS_CONFIRMATION": ("answer the dialog in the terminal",),
    "ERROR": ("look at the error in the terminal",),
    "EXITED": ("start it again if it is still needed",),
}
BY_LOOKING = frozenset(("screen", "process", "model"))
"""Sources that look at the terminal. All others are the agent itself."""

LONGEST_SUMMARY = 200


class Assessment(TypedDict, total=False):
    state: str
    """`READY`, `BUSY`, `NEEDS_CONFIRMATION`, `ERROR`, `EXITED` or `UNKNOWN`."""
    detail: str | None
    confidence: float
    source: str
    """`screen`, `process`, `model`; of the agent's own, `hook`, `session`, `transcript`."""
    cue: str
    """What decided."""
    pack: str
    summary: str
    actions_needed: Sequence[str]
    guess: bool
    """It is likely, and nothing on the screen says so."""
    at_unix: float
    """When it was told, or when the screen last changed."""
    since_unix: float
    """When it began to be in this state."""
    lasting: bool
    """It has said so for long enough to be taken seriously."""
    quiet_after_secs: float
    """Time without a report after which a screen that looks ready is believed."""
    disagreement: Assessment | None
    """Another signal that says otherwise."""


class TerminalStatus(Assessment, total=False):
    """One terminal after some looks, as `.workers/ID/status.json` has it."""

    id: str
    last_snapshot_hash: str
    """Of all that the terminal shows."""
    last_change_unix: float
    last_polled_unix: float
    stable_count: int
    """Looks in a row that found it unchanged."""
    called_for: str
    """What somebody was last called for; empty when that is over."""
    busy_since_unix: float | None
    """Since when its screen changes, if it does. Not in the file."""
    worked: bool
    """Something ran since somebody was last called. Not in the file."""
    cwd: str
    cli_type: str
    tmux_server: str
    tmux_session: str
    tmux_window: str
    tmux_pane: str
    screen: Assessment
    """What the screen alone says."""
    session: Assessment | None
    """What a file of the agent's own says."""
    asked: dict[str, Any] | None
    """The dialog that is open on the screen: its `id`, `text` and `options`."""


def assessment(
    source: str,
    state: str,
    summary: str,
    actions_needed: Sequence[str] = (),
    *,
    detail: str | None = None,
    confidence: float = 1.0,
    cue: str = "",
) -> Assessment:
    """One that a person can be told."""
    return {
        "state": state,
        "detail": detail,
        "confidence": confidence,
        "source": source,
        "cue": cue or ("" if source == "screen" else source),
        "summary": summary,
        "actions_needed": actions_needed,
    }


def in_words(counts: Assessment, screen: Assessment) -> Assessment:
    """What counts, as a person can be told: the screen says more of what the agent itself tells, where it agrees."""
    source, state = counts["source"], counts["state"]
    if source in BY_LOOKING:
        return screen
    agrees = screen["state"] == state
    summary = str(counts.get("summary") or (screen["summary"] if agrees else ""))
    actions = screen["actions_needed"] if agrees else ACTIONS.get(state, ())
    confidence = counts.get("confidence", 0.0)
    return assessment(source, state, summary, actions, detail=counts.get("detail"), confidence=confidence)
