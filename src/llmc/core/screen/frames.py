"""A terminal as somebody far away sees it: what to draw so that their screen becomes what ours is now.

Only what tmux has drawn goes out, row by row: no sequence of a program ever reaches the viewer's terminal.
"""

from __future__ import annotations

from llmc.values import Value

HOME_AND_CLEAR = "\x1b[H\x1b[2J"
WHOLE_RESET = "\x1bc"
"""Also drops what the viewer could scroll back to."""


class TerminalFrame(Value):
    """One look at a terminal."""

    rows: tuple[str, ...]
    """As tmux draws them, with colours and nothing else."""
    width: int
    height: int
    cursor: tuple[int, int]
    cursor_shown: bool = True
    scrolled: int = 0
    """How many rows have gone out of sight at the top, as far as the terminal keeps them."""
    dead: bool = False
    title: str = ""
    above: tuple[str, ...] = ()
    """The rows that have gone out of sight last, where they were asked for."""


def whole(frame: TerminalFrame, history: tuple[str, ...] = ()) -> str:
    """For a viewer who has seen nothing yet. `history`: the rows that have gone out of sight last."""
    above = "".join(f"{row}\x1b[0m\r\n" for row in history)
    # As many blank rows as the screen has: what is above them goes to where the viewer can scroll back to.
    pushed = above + "\r\n" * (frame.height - 1) if history else ""
    rows = "".join(_row(n, row) for n, row in enumerate(frame.rows))
    return WHOLE_RESET + pushed + HOME_AND_CLEAR + rows + _cursor(frame)


def difference(before: TerminalFrame, after: TerminalFrame, gone: tuple[str, ...] = ()) -> str | None:
    """What makes the earlier screen the later one; None when it takes the whole. `gone`: rows that scrolled out since.

    Empty when nothing is to be seen.
    """
    if (before.width, before.height) != (after.width, after.height) or after.scrolled < before.scrolled:
        return None
    if after.scrolled - before.scrolled != len(gone):
        return None
    rows = list(before.rows)
    drawn = ""
    if gone:
        # The rows that go are written where they were, and pushed out at the bottom.
        drawn += _scroll_out(rows, gone, after.height)
    blank = [""] * (len(after.rows) - len(rows))
    drawn += "".join(
        _row(n, row) for n, (old, row) in enumerate(zip([*rows, *blank], after.rows, strict=False)) if old != row
    )
    moved = drawn or before.cursor != after.cursor or before.cursor_shown != after.cursor_shown
    return drawn + _cursor(after) if moved else ""


def _scroll_out(rows: list[str], gone: tuple[str, ...], height: int) -> str:
    """Draws what leaves over the top rows, then scrolls; `rows` is what the viewer sees afterwards."""
    drawn = ""
    for first in range(0, len(gone), height):
        some = gone[first : first + height]
        for n, row in enumerate(some):
            if n >= len(rows) or rows[n] != row:
                drawn += _row(n, row)
        drawn += f"\x1b[{height};1H" + "\r\n" * len(some)
        rows[:] = [*rows[len(some) :], *[""] * min(len(some), height)][:height]
    return drawn


def _row(number: int, row: str) -> str:
    # Erased before it is drawn: after a row of the whole width, erasing would take its last character.
    return f"\x1b[{number + 1};1H\x1b[0m\x1b[K{row}\x1b[0m"


def _cursor(frame: TerminalFrame) -> str:
    x, y = frame.cursor
    return f"\x1b[{y + 1};{x + 1}H\x1b[?25{'h' if frame.cursor_shown else 'l'}"
