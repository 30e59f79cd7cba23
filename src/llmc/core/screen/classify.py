"""What a screen shows, by the pack of its CLI. Pure: a screen in, a reading out.

A pack is data (see `agents/packs/` and docs/packs.md): how the composer looks, and cues with a priority each. Of the
cues that hold, the one with the highest priority decides; the others make the answer surer or less sure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile

from llmc.core.dialogs.choosing import is_choice
from llmc.core.dialogs.dialog import Dialog
from llmc.core.dialogs.reading import read_choice, read_dialog, read_notice, read_prompt
from llmc.core.display import one_line
from llmc.core.screen.assessment import ACTIONS, LONGEST_SUMMARY, SUMMARIES, Assessment, assessment
from llmc.core.screen.composer import Box, ComposerShape, find_box
from llmc.core.screen.cues import Cue, ScreenView
from llmc.core.screen.screen import Screen, cut_cells, lines_of
from llmc.values import Value

SUREST = 0.99
CONTRADICTED = 0.85
LONGEST_PARAGRAPH = 30
ASKED_LINES = 6
LONGEST_QUESTION = 100
TYPED_ANSWERS = ("question", "password")
"""Dialogs that take a line of text, where they show nothing to choose from."""


class Pack(Value):
    name: str
    composer: ComposerShape | None = None
    cues: tuple[Cue, ...] = ()
    """Those with the highest priority first."""
    version: str = ""
    """The versions of the CLI that it was recorded on: "2.1" is every 2.1.x, "2.1-2.3" a range."""
    process_names: tuple[str, ...] = ()
    stable_looks: int = 3
    """How often a screen must look the same before it is believed."""
    chrome: re.Pattern[str] | None = None
    """Lines between the last words of the conversation and the composer that are the CLI's own."""
    aside: re.Pattern[str] | None = None
    """The first line of a paragraph that is the CLI's own."""
    frame: re.Pattern[str] | None = None
    """The first line of a dialog."""
    trim: re.Pattern[str] | None = None
    """What ends every line of some part of the screen and says nothing: a scroll bar, the right side of a box."""

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}" if self.version else self.name

    def covers(self, version: str) -> bool:
        """Whether it was recorded on this version of the CLI."""
        lowest, _, highest = self.version.partition("-")
        low, this, high = (_numbers(text) for text in (lowest, version, highest or lowest))
        return bool(low) and low <= this[: len(low)] and this[: len(high)] <= high


class ScreenReading(Value):
    says: Assessment
    others: tuple[str, ...] = ()
    """The other cues that hold."""
    matched: Cue | None = None
    composer: str | None = None
    """What is typed and not submitted; None when no composer was found."""
    dialog: Dialog | None = None
    """What is asked, where the screen waits for an answer."""
    said: str = ""
    """The last words of the agent above it."""

    @property
    def state(self) -> str:
        return self.says["state"]

    @property
    def detail(self) -> str | None:
        return self.says.get("detail")

    @property
    def cue(self) -> str:
        return self.says.get("cue", "")

    @property
    def confidence(self) -> float:
        return self.says.get("confidence", 0.0)

    @property
    def says_what_is_asked(self) -> Assessment:
        """A notice of an open dialog that does not tell what it asks is noise."""
        if self.dialog is None or not self.dialog.options:
            return self.says
        last = one_line(self.dialog.question.rpartition("\n")[2], LONGEST_QUESTION)
        summary = f"{self.says['summary']}: {last} ({self.dialog.listed})"
        return {**self.says, "summary": one_line(summary, LONGEST_SUMMARY)}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d{1,9}", version)))


def read_screen(pack: Pack, screen: Screen) -> ScreenReading:
    view = look_at(pack, screen)
    found = [(cue, groups) for cue in pack.cues if (groups := cue.found(view)) is not None]
    dialog = _open_dialog(view)
    if dialog is not None and not any(cue.state in ("NEEDS_CONFIRMATION", "EXITED") for cue, _ in found):
        found = [(UNKNOWN_DIALOG, {}), *found]
    if not found:
        notice = read_notice(view.lines)
        if view.box is not None and (notice is None or not is_choice(notice)):
            found = [(COMPOSER, {})]
        elif notice is not None:
            return _decided(pack, view, [(UNKNOWN_NOTICE, {})], notice)
        else:
            return ScreenReading({**NOTHING, "pack": pack.label})
    return replace(_decided(pack, view, found, dialog), said=_words(pack, view))


COMPOSER = Cue("composer", "READY", (), confidence=0.6)
"""A composer and nothing else: most CLIs show one while they are busy too."""
UNKNOWN_DIALOG = Cue("dialog", "NEEDS_CONFIRMATION", (), detail="question", confidence=0.86)
"""Options to choose from that no cue of the pack speaks of."""
UNKNOWN_NOTICE = Cue("notice", "NEEDS_CONFIRMATION", (), detail="notice", confidence=0.7)
NOTHING = assessment("screen", "UNKNOWN", "nothing on the screen is recognised", confidence=0.0)


def _open_dialog(view: ScreenView) -> Dialog | None:
    """The dialog at the end of the screen. What stands above the input line is over, or quoted."""
    dialog = read_dialog(view.lines, view.screen.styled)
    if dialog is None or view.box is None:
        return dialog
    return None if view.box.first >= dialog.lines.stop or _is_typed(dialog, view.box, view.lines) else dialog


def _is_typed(dialog: Dialog, box: Box, lines: Sequence[str]) -> bool:
    """Whether the options are the numbers of a list that somebody types: nothing is asked in the input box."""
    first = dialog.lines.start
    inside = box.closed and box.first <= first < box.end
    return inside and (box.prompted or first <= box.first + 1) and read_notice(lines) is None


def _words(pack: Pack, view: ScreenView) -> str:
    """Without the prompt that it answers: that is by whoever typed it, and goes on where lines are indented."""
    lines = list(view.said)
    if pack.composer is not None and lines and pack.composer.prompt.search(lines[0]):
        lines = list(dropwhile(lambda line: line.startswith(" "), lines[1:]))
    return "\n".join(lines)


def _decided(
    pack: Pack, view: ScreenView, found: Sequence[tuple[Cue, Mapping[str, str]]], dialog: Dialog | None
) -> ScreenReading:
    (cue, groups), *rest = found
    others = [other for other, _ in rest]
    says = assessment(
        "screen",
        cue.state,
        _filled(cue.summary, groups) or SUMMARIES[cue.state],
        cue.actions or ACTIONS.get(cue.state, ()),
        detail=cue.detail,
        confidence=_confidence(cue, others),
        cue=cue.name,
    )
    says["pack"] = pack.label
    says["guess"] = cue.guess and all(other.guess for other in others if other.state == cue.state)
    asked = dialog or _dialog_of_cue(cue, view) if cue.state == "NEEDS_CONFIRMATION" else None
    typed = view.box.text if view.box else None
    return ScreenReading(says, tuple(other.name for other in others), cue, typed, asked)


def _dialog_of_cue(cue: Cue, view: ScreenView) -> Dialog:
    """Options that only the cue makes a dialog of, keys that lead on, a line to type, or just what the screen says."""
    seen = (read_choice(view.lines) if view.box is None else None) or read_notice(view.lines) or read_prompt(view.lines)
    if seen is not None:
        return seen
    last = [line.strip() for line in view.lines if line.strip()][-ASKED_LINES:]
    return Dialog("\n".join(last), typed=cue.detail in TYPED_ANSWERS)


def _confidence(cue: Cue, others: Sequence[Cue]) -> float:
    """Cues that agree make it surer; one that says something else, less sure. READY is what remains: it never does."""
    doubt = 1.0 - cue.confidence
    for other in others:
        if other.state == cue.state:
            doubt *= 1.0 - other.confidence / 2
    sure = min(SUREST, 1.0 - doubt)
    contradicted = any(other.state not in (cue.state, "READY") for other in others)
    return round(sure * CONTRADICTED if contradicted else sure, 2)


def _filled(template: str, groups: Mapping[str, str]) -> str:
    for name, value in groups.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def look_at(pack: Pack, screen: Screen) -> ScreenView:
    lines = lines_of(screen.text)
    if pack.trim is not None:
        lines = tuple(pack.trim.sub("", line).rstrip() for line in lines)
    box = find_box(pack.composer, lines) if pack.composer else None
    if box is not None and box.width:
        lines = tuple(cut_cells(line, box.width).rstrip() for line in lines)
    return ScreenView(
        screen, lines, box, _said(pack, lines, len(lines) if box is None else box.first), _dialog(pack, lines)
    )


def _said(pack: Pack, lines: Sequence[str], end: int) -> Sequence[str]:
    """The last paragraph above the composer that is not the CLI's own."""

    def skipped(line: str) -> bool:
        return not line or (pack.chrome is not None and pack.chrome.search(line) is not None)

    while end > 0:
        while end > 0 and skipped(lines[end - 1]):
            end -= 1
        first = end
        while first > 0 and end - first < LONGEST_PARAGRAPH and not skipped(lines[first - 1]):
            first -= 1
        if pack.aside is None or first == end or not pack.aside.search(lines[first]):
            return lines[first:end]
        end = first
    return ()


def _dialog(pack: Pack, lines: Sequence[str]) -> Sequence[str]:
    """From the last line that begins a dialog to the end of the screen."""
    if pack.frame is None:
        return ()
    starts = [n for n, line in enumerate(lines) if pack.frame.search(line)]
    return lines[starts[-1] :] if starts else ()
