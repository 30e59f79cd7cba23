"""The examples of the documentation: what a reader can type, in the order of the page."""

from __future__ import annotations

import re
from pathlib import Path

EXAMPLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands_in(page: Path) -> list[str]:
    blocks = EXAMPLE.findall(page.read_text())
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]
