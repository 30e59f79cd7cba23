"""What a terminal shows, as an SVG: the colours are those that the program wrote."""

from __future__ import annotations

import re
from html import escape

COLOURS = {"31": "#e06c75", "32": "#98c379", "33": "#e5c07b", "36": "#56b6c2"}
TEXT, GROUND, FAINT = "#d7dae0", "#1e2227", "#7f848e"
FONT = "ui-monospace, Menlo, Consolas, monospace"
CELL, LINE, MARGIN = 8.4, 19, 16
PART = re.compile(r"\x1b\[([0-9;]*)m")


def svg_of(text: str, about: str) -> str:
    lines = text.split("\n")
    width = max(len(PART.sub("", line)) for line in lines) * CELL + 2 * MARGIN
    height = len(lines) * LINE + 2 * MARGIN
    rows = [_row(line, MARGIN + (at + 1) * LINE - 5) for at, line in enumerate(lines)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" role="img">',
            f"<title>{escape(about)}</title>",
            f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>',
            f'<g font-family="{FONT}" font-size="14" fill="{TEXT}" xml:space="preserve">',
            *rows,
            "</g>",
            "</svg>",
            "",
        ]
    )


def _row(line: str, y: float) -> str:
    parts, column, style = [], 0, ""
    for at, part in enumerate(PART.split(line)):
        if at % 2:
            style = _style(part)
        elif part:
            x = MARGIN + column * CELL
            parts.append(f'<tspan x="{x:.1f}" textLength="{len(part) * CELL:.1f}"{style}>{escape(part)}</tspan>')
            column += len(part)
    return f'<text y="{y:.0f}">{"".join(parts)}</text>'


def _style(codes: str) -> str:
    words = codes.split(";")
    colour = next((COLOURS[word] for word in words if word in COLOURS), FAINT if "2" in words else "")
    return (f' fill="{colour}"' if colour else "") + (' font-weight="bold"' if "1" in words else "")
