"""Whether the person's terminal wants colours: NO_COLOR and pipes do not."""

from __future__ import annotations

import os
import sys

from llmc.core.paint import Paint


def terminal_paint() -> Paint:
    return Paint(wanted=sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")
