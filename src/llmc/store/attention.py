"""What an agent's own reports said last, as kept beside its worker for everybody who looks."""

from __future__ import annotations

import json
from pathlib import Path


def told_state(path: str) -> str:
    """`READY`, `BUSY`, `NEEDS_CONFIRMATION` or `ERROR`; empty when it has told nothing."""
    try:
        return str(json.loads(Path(path).read_text(encoding="utf-8"))["state"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""
