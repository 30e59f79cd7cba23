"""Terminals that somebody looks at: read when they change, and no client of tmux stays for it.

A capture asks nothing of the agent: neither a slow viewer nor one that is gone can hold it up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import urandom

from llmc.core.screen.drawn_rows import drawn_rows
from llmc.core.screen.frames import TerminalFrame
from llmc.tmux.server import Tmux

MOST_SCROLLED = 200
"""Rows that are told one by one when they leave the screen; of more, the viewer gets the whole anew."""
FACTS = (
    "#{pane_id}\t#{pane_width}\t#{pane_height}\t#{cursor_x}\t#{cursor_y}\t#{cursor_flag}\t"
    "#{history_size}\t#{pane_dead}\t#{pane_title}"
)


def look_at_panes(tmux: Tmux, panes: Iterable[str], above: Mapping[str, int] | None = None) -> dict[str, TerminalFrame]:
    """All of them by one process. Those that are gone are left out.

    `above`: of which panes also that many of the rows that have gone out of sight last.
    """
    wanted = list(panes)
    if not wanted:
        return {}
    mark = f"={urandom(12).hex()}="
    words = [word for pane in wanted for word in (*_look(pane, mark, (above or {}).get(pane, 0)), ";")]
    answer = tmux.run(*words[:-1])
    if not answer.ok and len(wanted) > 1:  # one that is gone ends the whole sequence
        return {name: frame for pane in wanted for name, frame in look_at_panes(tmux, [pane], above).items()}
    parts = answer.text.split(f"{mark}\n")[:-1] if answer.ok else []
    return dict(map(_frame, parts))


def _look(pane: str, mark: str, above: int) -> tuple[str, ...]:
    facts = ("display-message", "-p", "-t", pane, FACTS)
    begin = ("-S", f"-{above}") if above else ()
    return (*facts, ";", "capture-pane", "-p", "-e", "-t", pane, *begin, ";", "display-message", "-p", mark)


def _frame(part: str) -> tuple[str, TerminalFrame]:
    line, _, screen = part.partition("\n")
    pane, width, height, x, y, shown, scrolled, dead, title = line.split("\t", 8)
    rows = drawn_rows(screen.removesuffix("\n"))
    at = (int(x or 0), int(y or 0))
    size = (int(width or 0), int(height or 0))
    above, rows = rows[: -size[1]], rows[-size[1] :]
    return pane, TerminalFrame(rows, *size, at, shown != "0", int(scrolled or 0), dead == "1", title, above)
