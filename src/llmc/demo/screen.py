"""The picture: what the program knows, laid out as rows of a terminal of a given size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from llmc.demo.dialog import DemoDialog
from llmc.demo.requests import Tell, Tone
from llmc.demo.text import cells, cut, harmless, lines_of, wrap

HEADER = "LLMC DEMO AGENT: scripted, there is no model behind it"
HINTS = "demo agent · /clear · /exit"
DIALOG_HINTS = "demo agent · a number, or arrows and Enter · Esc to stop"
EXIT_HINT = "Press Ctrl-C again to exit"
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
PROMPT = "❯ "

_INDENT = "  "
_MOST_QUEUED = 3
_AROUND_COMPOSER = 6


class DemoView(NamedTuple):
    """Everything that can be seen. `busy_secs` is None while no turn runs."""

    transcript: Sequence[Tell] = ()
    draft: str = ""
    queued: Sequence[str] = ()
    busy_secs: float | None = None
    dialog: DemoDialog | None = None
    leaving: bool = False


class ScreenRow(NamedTuple):
    text: str
    tone: Tone = Tone.PLAIN


class Picture(NamedTuple):
    """Exactly as many rows as the terminal has. The cursor is a row and a column, from 0."""

    rows: tuple[ScreenRow, ...]
    cursor: tuple[int, int]
    title: str


def picture(view: DemoView, width: int, height: int) -> Picture:
    field = _field(view, width, max(1, height - _AROUND_COMPOSER))
    top, below = _around(view, width)
    if height < len(top) + len(field) + len(below) + 2:
        top, below, field = [], [], field[-height:]
    header = [ScreenRow(cut(HEADER, width), Tone.BOLD)] if top else []
    room = height - len(header) - len(top) - len(field) - len(below)
    rows = [*header, *_transcript(view.transcript, width, room), *top, *field, *below]
    last = len(rows) - len(below) - 1
    column = min(cells(rows[last].text), width - 1)
    return Picture(tuple(rows), (last, column), title(view))


def title(view: DemoView) -> str:
    if view.dialog is not None:
        return "demo: asks"
    return f"{SPINNER[0]} demo: working" if view.busy_secs is not None else "demo: ready"


def _around(view: DemoView, width: int) -> tuple[list[ScreenRow], list[ScreenRow]]:
    """What stands above and below the field where a person types or chooses."""
    rule = ScreenRow("─" * width, Tone.DIM)
    hints = EXIT_HINT if view.leaving else DIALOG_HINTS if view.dialog else HINTS
    return [*_busy(view, width), rule], [rule, ScreenRow(cut(hints, width), Tone.DIM)]


def _busy(view: DemoView, width: int) -> list[ScreenRow]:
    rows = [ScreenRow(cut(f"  queued: {harmless(text)}", width), Tone.DIM) for text in view.queued[:_MOST_QUEUED]]
    if view.busy_secs is not None and view.dialog is None:
        glyph = SPINNER[int(view.busy_secs * 10) % len(SPINNER)]
        rows.insert(0, ScreenRow(cut(f"{glyph} Working… ({int(view.busy_secs)}s)", width), Tone.BUSY))
    return rows


def _field(view: DemoView, width: int, most: int) -> list[ScreenRow]:
    return _dialog(view.dialog, width)[-most:] if view.dialog else _composer(view.draft, width, most)


def _composer(draft: str, width: int, most: int) -> list[ScreenRow]:
    """The draft's end, where the cursor is; laying out all of a long one with each key would take too long."""
    return [ScreenRow(text) for text in _hanging(draft[-width * most :], PROMPT, width, most)]


def _dialog(dialog: DemoDialog, width: int) -> list[ScreenRow]:
    above = [ScreenRow(row) for line in dialog.asking.detail for row in _wrapped(line, width)]
    question = [ScreenRow(row, Tone.BOLD) for row in _wrapped(dialog.asking.question, width)]
    return [*above, *question, *(row for at in range(len(dialog.options)) for row in _option(dialog, at, width))]


def _option(dialog: DemoDialog, at: int, width: int) -> list[ScreenRow]:
    mark = PROMPT if at == dialog.selected else _INDENT
    text = f"{at + 1}. {dialog.options[at]}"
    if at == dialog.selected and dialog.field is not None:
        text += f": {dialog.field.shown}"
    return [ScreenRow(row) for row in _hanging(text, mark, width)]


def _hanging(text: str, mark: str, width: int, most: int = 100) -> list[str]:
    """The last rows, wrapped beside a mark; a terminal that is too narrow for both gets the text alone."""
    narrow = width <= len(mark)
    room = width if narrow else width - len(mark)
    rows = _wrapped(text, room)[-most:]
    if narrow:
        return rows
    return [(mark if at == 0 else _INDENT) + row for at, row in enumerate(rows)]


def _transcript(told: Sequence[Tell], width: int, room: int) -> list[ScreenRow]:
    """The newest rows that fit, from the top as long as there is room."""
    rows: list[ScreenRow] = []
    for tell in reversed(told):
        if len(rows) >= room:
            break
        rows = [ScreenRow(row, tell.tone) for row in _wrapped(tell.text, width)] + rows
    rows = rows[max(0, len(rows) - room) :]
    return rows + [ScreenRow("")] * (room - len(rows))


def _wrapped(text: str, width: int) -> list[str]:
    return [row for line in lines_of(text) for row in wrap(harmless(line), width)]
