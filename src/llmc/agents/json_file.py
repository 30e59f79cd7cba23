"""Files that others write as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def object_in(path: Path) -> dict[str, Any]:
    """Empty where there is none, or one with comments in it: the CLI tells the person about what it cannot read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
