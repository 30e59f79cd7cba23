"""How wide the person's terminal is."""

from __future__ import annotations

import os
import sys


def terminal_columns() -> int | None:
    """None where the answer goes to a file or a program: nothing is cut there."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None
