"""What a screen shows, by the pack of its CLI. Pure: text in, a reading out.

A pack is data (see `agents/packs/`): how the composer looks, which dialogs exist, what busy looks
like. Dialogs are looked for first, because a prompt is often on the screen at the same time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ComposerShape:
    """The input box: the lines between two rules, the first of which begins with the prompt."""

    prompt: re.Pattern[str]
    rule: re.Pattern[str] | None = None
    placeholder: re.Pattern[str] | None = None
    """Stands for a long paste that is not shown."""
    hint: re.Pattern[str] | None = None
    """Words that an empty composer shows by itself."""


@dataclass(frozen=True, slots=True)
class Cue:
    name: str
    pattern: re.Pattern[str]
    kind: str = ""


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
    composer: str | None = None
    """What is typed and not submitted; None when no composer was found."""


UNKNOWN = Reading("UNKNOWN")


def read_screen(pack: Pack, screen: str) -> Reading:
    lines = [line.rstrip() for line in screen.splitlines()]
    composer = find_composer(pack.composer, lines) if pack.composer else None
    dialog = _first_match(pack.dialogs, screen)
    if dialog is not None:
        return Reading("NEEDS_CONFIRMATION", dialog.kind or None, dialog.name, composer)
    busy = _first_match(pack.busy, screen)
    if busy is not None:
        return Reading("BUSY", None, busy.name, composer)
    error = _first_match(pack.errors, screen)
    if error is not None:
        return Reading("ERROR", error.kind or None, error.name, composer)
    if composer is not None:
        return Reading("READY", None, "composer", composer)
    return UNKNOWN


def _first_match(cues: tuple[Cue, ...], screen: str) -> Cue | None:
    return next((cue for cue in cues if cue.pattern.search(screen)), None)


def find_composer(shape: ComposerShape, lines: list[str]) -> str | None:
    """The text in the input box; None when there is no input box on the screen."""
    box = _box(shape, lines)
    if box is None:
        return None
    match = shape.prompt.match(box[0])
    assert match is not None
    typed = [box[0][match.end() :], *(line.removeprefix("  ") for line in box[1:])]
    text = "\n".join(typed).strip()
    return "" if shape.hint is not None and shape.hint.fullmatch(text) else text


def _box(shape: ComposerShape, lines: list[str]) -> list[str] | None:
    if shape.rule is None:
        prompts = [line for line in lines if shape.prompt.match(line)]
        return prompts[-1:] or None
    rules = [n for n, line in enumerate(lines) if shape.rule.search(line)]
    for upper, lower in zip(reversed(rules[:-1]), reversed(rules[1:]), strict=True):
        inside = lines[upper + 1 : lower]
        if inside and shape.prompt.match(inside[0]):
            return inside
    return None


def composer_holds(shape: ComposerShape | None, typed: str, text: str) -> bool:
    """Whether the composer shows this text: whole, its end, or the placeholder of a long paste."""
    if shape is not None and shape.placeholder is not None and shape.placeholder.search(typed):
        return True
    shown = "".join(typed.split())
    return bool(shown) and "".join(text.split()).endswith(shown)
