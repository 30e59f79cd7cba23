"""Recorded screens beside a pack, and whether its cues still decide them.

A screen is a text file. What tmux knew of the terminal stands in a `.json` beside it, under the names that tmux has for
it; the colours, where a cue needs them, in an `.ansi`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from llmc.agents.json_file import object_in
from llmc.core.screen.classify import Pack, read_screen
from llmc.core.screen.screen import Screen


def recorded_screen(path: Path) -> Screen:
    facts = object_in(path.with_suffix(".json"))
    styled = path.with_suffix(".ansi")
    column, row = facts.get("cursor_x"), facts.get("cursor_y")
    return Screen(
        path.read_text("utf-8", "replace"),
        str(facts.get("pane_title", "")),
        str(facts.get("pane_current_command", "")),
        (column, row) if isinstance(column, int) and isinstance(row, int) else None,
        str(facts["alternate_on"]) == "1" if "alternate_on" in facts else None,
        styled.read_text("utf-8", "replace") if styled.exists() else None,
    )


def wrong_examples(pack: Pack, directory: str) -> Iterator[str]:
    """What is wrong with the examples of a pack whose recordings are in this directory."""
    for cue in pack.cues:
        for example in cue.examples:
            path = Path(os.path.join(directory, example))
            if not path.is_file():
                yield f"the example {example} of cue {cue.name!r} is not there"
                continue
            reading = read_screen(pack, recorded_screen(path))
            if reading.cue != cue.name:
                yield f"the example {example} of cue {cue.name!r} is decided by {reading.cue or 'nothing'}"
