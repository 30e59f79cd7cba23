"""What a prompt can ask the demo agent to do."""

from __future__ import annotations

from typing import NamedTuple


class StepFailedError(Exception):
    """The step cannot be done; the text says why."""


class ScriptStep(NamedTuple):
    """One `demo:` line. `script.py` knows which verb has what."""

    verb: str
    path: str = ""
    text: str = ""
    """What to write, say, ask, run or put into a commit message; what to replace."""
    new: str = ""
    """What to put in its place."""
    kind: str = ""
    """The kind of failure."""
    number: float = 0
    """Seconds, an exit code or a signal."""
    trailers: bool = True
    """Whether a commit message says who wrote it."""
