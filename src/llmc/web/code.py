"""An address as a QR code of characters, for a phone."""

from __future__ import annotations

import segno

HALVES = {(False, False): "█", (False, True): "▀", (True, False): "▄", (True, True): " "}
"""Two rows in one line. What is dark in the code is left empty: most terminals are dark."""


def code_of(address: str) -> str:
    rows = [[bool(dot) for dot in row] for row in segno.make(address, error="l", micro=False).matrix_iter(border=2)]
    if len(rows) % 2:
        rows.append([False] * len(rows[0]))
    return "\n".join(
        "".join(HALVES[pair] for pair in zip(upper, lower, strict=True))
        for upper, lower in zip(rows[::2], rows[1::2], strict=True)
    )
