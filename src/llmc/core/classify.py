"""What a screen shows, by the pack of its CLI. Pure: text in, a reading out.

A pack is data (see `agents/packs/`): how the composer looks, which dialogs exist, what busy looks
like. Dialogs are looked for first, because a prompt is often on the screen at the same time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class ComposerShape:
    """The input box, in one of three forms.

    With a `rule`: the lines between two rules, the first of which begins with the prompt. With a `bottom`: the lines
    above it, each of which begins with the prompt, but for the last. With neither: the last line that begins with the
    prompt, and what is indented below it.
    """

    prompt: re.Pattern[str]
    rule: re.Pattern[str] | None = None
    bottom: re.Pattern[str] | None = None
    footer: re.Pattern[str] | None = None
    """With neither: the line below the box, so that it may hold blank lines."""
    placeholder: re.Pattern[str] | None = None
    """Stands for a long paste that is not shown."""
    hint: re.Pattern[str] | None = None
    """Words that an empty composer shows by itself."""


@dataclass(frozen=True, slots=True)
class Cue:
    name: str
    pattern: re.Pattern[str]
    kind: str = ""
    pass_keys: tuple[str, ...] = ()
    """For a dialog of the start: the keys that pass it."""
    advice: str = ""
    """For a dialog of the start that only the person can pass: what to do."""
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """For a dialog of the work: the keys for `yes`, `no`, a `number` ({n}) and before an own `text`."""


@dataclass(frozen=True, slots=True)
class Pack:
    name: str
    composer: ComposerShape | None = None
    dialogs: tuple[Cue, ...] = ()
    busy: tuple[Cue, ...] = ()
    errors: tuple[Cue, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    state: str
    detail: str | None = None
    cue: str = ""
    matched: Cue | None = None
    composer: str | None = None
    """What is typed and not submitted; None when no composer was found."""


UNKNOWN = Reading("UNKNOWN")


def read_screen(pack: Pack, screen: str) -> Reading:
    lines = [line.rstrip() for line in screen.splitlines()]
    composer = find_composer(pack.composer, lines) if pack.composer else None
    dialog = _first_match(pack.dialogs, screen)
    if dialog is not None:
        return Reading("NEEDS_CONFIRMATION", dialog.kind or None, dialog.name, dialog, composer)
    busy = _first_match(pack.busy, screen)
    if busy is not None:
        return Reading("BUSY", None, busy.name, busy, composer)
    error = _first_match(pack.errors, screen)
    if error is not None:
        return Reading("ERROR", error.kind or None, error.name, error, composer)
    if composer is not None:
        return Reading("READY", None, "composer", None, composer)
    return UNKNOWN


def _first_match(cues: tuple[Cue, ...], screen: str) -> Cue | None:
    return next((cue for cue in cues if cue.pattern.search(screen)), None)


def find_composer(shape: ComposerShape, lines: list[str]) -> str | None:
    """The text in the input box; None when there is no input box on the screen."""
    box = _box(shape, lines)
    if box is None:
        return None
    text = "\n".join(shape.prompt.sub("", line, count=1) for line in box).strip()
    return "" if shape.hint is not None and shape.hint.fullmatch(text) else text


def _box(shape: ComposerShape, lines: list[str]) -> list[str] | None:
    if shape.rule is not None:
        return _between_rules(shape.prompt, shape.rule, lines)
    if shape.bottom is not None:
        return _above_bottom(shape.prompt, shape.bottom, lines)
    return _last_prompt(shape.prompt, shape.footer, lines)


def _between_rules(prompt: re.Pattern[str], rule: re.Pattern[str], lines: list[str]) -> list[str] | None:
    rules = [n for n, line in enumerate(lines) if rule.search(line)]
    for upper, lower in zip(reversed(rules[:-1]), reversed(rules[1:]), strict=True):
        inside = lines[upper + 1 : lower]
        if inside and prompt.match(inside[0]):
            return inside
    return None


def _above_bottom(prompt: re.Pattern[str], bottom: re.Pattern[str], lines: list[str]) -> list[str] | None:
    edges = [(n, match.end()) for n, line in enumerate(lines) if (match := bottom.search(line))]
    if not edges:
        return None
    below, width = edges[-1]
    first = below
    while first > 0 and prompt.match(lines[first - 1]):
        first -= 1
    # What stands to the right of the box is not in it.
    return [_cut(line, width) for line in lines[first : below - 1]] or None


def _cut(line: str, cells: int) -> str:
    for at, character in enumerate(line):
        cells -= 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if cells < 0:
            return line[:at]
    return line


def _last_prompt(prompt: re.Pattern[str], footer: re.Pattern[str] | None, lines: list[str]) -> list[str] | None:
    starts = [n for n, line in enumerate(lines) if prompt.match(line)]
    if not starts:
        return None
    first = starts[-1]
    ends = [n for n in range(first + 1, len(lines)) if footer is not None and footer.search(lines[n])]
    if ends:
        return lines[first : ends[0]]
    last = first + 1
    while last < len(lines) and lines[last].startswith("  ") and lines[last].strip():
        last += 1
    return lines[first:last]


CLEARLY_OURS = 20
"""So many letters and digits in a row are no coincidence."""


def composer_holds(shape: ComposerShape | None, typed: str, text: str) -> bool:
    """Whether the composer shows this text: whole, a part of a long one, or the placeholder of a long paste."""
    if shape is not None and shape.placeholder is not None and shape.placeholder.search(typed):
        return not _beside_placeholder(shape.placeholder, typed)
    shown, whole = _letters(typed), _letters(text)
    return bool(shown) and (shown == whole or (len(shown) >= CLEARLY_OURS and shown in whole))


def composer_mixes(shape: ComposerShape | None, typed: str, text: str) -> bool:
    """Whether the composer shows this text, or the placeholder of a paste, among other words."""
    if shape is not None and shape.placeholder is not None and shape.placeholder.search(typed):
        return _beside_placeholder(shape.placeholder, typed)
    shown, whole = _letters(typed), _letters(text)
    return shown != whole and whole in shown


def _beside_placeholder(placeholder: re.Pattern[str], typed: str) -> bool:
    """Whether there are other words. A pattern may leave the end of the brackets open."""
    found = placeholder.search(typed)
    while found is not None:
        end = found.end() if found[0].endswith("]") else typed.find("]", found.end()) + 1 or len(typed)
        typed = typed[: found.start()] + typed[end:]
        found = placeholder.search(typed)
    return any(c.isalnum() for c in typed)


def _letters(text: str) -> str:
    """Letters and digits only: terminals break lines, expand tabs, and show emoji each in their own way."""
    normal = unicodedata.normalize("NFC", text)
    return "".join(c for c in normal if c.isalnum()) or "".join(normal.split())
