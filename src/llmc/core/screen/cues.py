"""Cues: what to look for on a screen, where, and what it means. Pure data with one question: does it hold?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from llmc.core.dialogs.choosing import USUAL_WAYS, Ways
from llmc.core.screen.composer import Box
from llmc.core.screen.dialog_text import Asks
from llmc.core.screen.screen import LONGEST_LINE, MOST_LINES, Screen, cut_cells, plain
from llmc.core.screen.styles import has_style
from llmc.values import Value

STATES = ("EXITED", "NEEDS_CONFIRMATION", "BUSY", "ERROR", "READY")
PRIORITIES: Mapping[str, int] = MappingProxyType(
    {"EXITED": 100, "NEEDS_CONFIRMATION": 80, "BUSY": 60, "ERROR": 40, "READY": 20}
)
REGIONS = ("composer", "above", "below", "said", "words", "dialog", "bottom", "last", "cursor", "whole")
CURSOR_PLACES = ("composer", "end", "below")
COMPOSER_STATES = ("present", "absent", "empty", "filled")
ANY = "*"
"""Whatever runs, as long as it is known."""
USUAL_LINES = 15
"""How much of a long region a cue looks at when it does not say."""


class ScreenView(Value):
    """A screen with its places found."""

    screen: Screen
    lines: tuple[str, ...]
    box: Box | None
    said: Sequence[str] = ()
    dialog: Sequence[str] = ()

    def region(self, name: str) -> Sequence[str]:
        lines, box = self.lines, self.box
        match name:
            case "composer":
                return box.text.split("\n") if box else ()
            case "above":
                return lines[: box.first] if box else lines
            case "below":
                return lines[box.end :] if box else ()
            case "said":
                return self.said
            case "words":
                return [" ".join(line.strip() for line in self.said)[-LONGEST_LINE:]]
            case "dialog":
                return self.dialog
            case "last":
                return lines[-1:]
            case "cursor":
                return self._before_cursor()
        return lines

    def _before_cursor(self) -> Sequence[str]:
        """The line that the cursor is on, up to it."""
        if self.screen.cursor is None:
            return self.lines[-1:]
        column, row = self.screen.cursor
        return [cut_cells(self.lines[row], column)] if row < len(self.lines) else [""]


class InRegion(Value):
    """A pattern on one of the lines of a region: of the last ones, unless it is a short region."""

    region: str
    pattern: re.Pattern[str]
    lines: int = USUAL_LINES
    style: str = ""
    """What it looks like; where the colours are not known, it is not found."""

    def found(self, view: ScreenView) -> Mapping[str, str] | None:
        lines = [line for line in view.region(self.region) if line.strip()]
        looked_at = lines[: self.lines] if self.region == "below" else lines[-self.lines :]
        for line in reversed(looked_at):
            match = self.pattern.search(line[:LONGEST_LINE])
            if match and (not self.style or self._looks_right(view, line, match)):
                return _groups(match)
        return None

    def _looks_right(self, view: ScreenView, line: str, match: re.Match[str]) -> bool:
        styled = [each for each in (view.screen.styled or "").split("\n")[-MOST_LINES:] if plain(each).rstrip() == line]
        return any(has_style(each, match.start(), match.end(), self.style) for each in styled)


class HasTitle(Value):
    pattern: re.Pattern[str]

    def found(self, view: ScreenView) -> Mapping[str, str] | None:
        match = self.pattern.search(view.screen.title[:LONGEST_LINE])
        return _groups(match) if match and view.screen.title else None


class RunsCommand(Value):
    names: frozenset[str]

    def found(self, view: ScreenView) -> Mapping[str, str] | None:
        name = view.screen.command.removeprefix("-")
        known = name in self.names or (bool(name) and ANY in self.names)
        return {"command": name} if known else None


class CursorIs(Value):
    place: str

    def found(self, view: ScreenView) -> Mapping[str, str] | None:
        cursor, box = view.screen.cursor, view.box
        if cursor is None:
            return None
        if self.place == "composer":
            return {} if box is not None and box.first <= cursor[1] < box.end else None
        last = len(view.lines) - 1
        return {} if (cursor[1] > last if self.place == "below" else cursor[1] == last) else None


class OnAlternateScreen(Value):
    wanted: bool

    def found(self, view: ScreenView) -> Mapping[str, str] | None:
        return {} if view.screen.alternate is self.wanted else None


class ComposerIs(Value):
    how: str

    def found(self, view: ScreenView) -> Mapping[str, str] | None:
        box = view.box
        holds = {
            "present": box is not None,
            "absent": box is None,
            "empty": box is not None and not box.text,
            "filled": box is not None and bool(box.text),
        }
        return {} if holds[self.how] else None


Condition = InRegion | HasTitle | RunsCommand | CursorIs | OnAlternateScreen | ComposerIs


def _groups(match: re.Match[str]) -> Mapping[str, str]:
    return {name: value.strip() for name, value in match.groupdict().items() if value}


class Cue(Value):
    name: str
    state: str
    when: tuple[Condition, ...]
    """All of them hold."""
    unless: tuple[Condition, ...] = ()
    """None of them holds."""
    detail: str | None = None
    priority: int = 0
    confidence: float = 0.9
    guess: bool = False
    """Nothing on the screen says so: it is what is likely, as long as the screen is not at rest for long."""
    summary: str = ""
    """In words, with the named groups of the patterns as {name}."""
    actions: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """Recorded screens that it decides."""
    choose: re.Pattern[str] | None = None
    """For a dialog of the start: the words of the option that LLMC itself takes."""
    advice: str = ""
    """For a dialog of the start that only the person can pass: what to do."""
    ways: Ways = USUAL_WAYS
    """For a dialog: which of its options are `yes` and `no`, where their words do not say it."""
    asks: Asks | None = None
    """For a dialog of the work: where it says what it asks for."""

    def found(self, view: ScreenView) -> Mapping[str, str] | None:
        """The named groups of its patterns; None when the cue does not hold."""
        groups: dict[str, str] = {}
        for condition in self.when:
            found = condition.found(view)
            if found is None:
                return None
            groups.update(found)
        return None if any(condition.found(view) is not None for condition in self.unless) else groups
