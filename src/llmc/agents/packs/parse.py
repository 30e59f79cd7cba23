"""A pack file, read and checked. Every complaint names the file and the line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from llmc.core.dialogs.choosing import Ways
from llmc.core.screen.classify import Pack
from llmc.core.screen.composer import ComposerShape
from llmc.core.screen.cues import (
    COMPOSER_STATES,
    CURSOR_PLACES,
    PRIORITIES,
    REGIONS,
    STATES,
    USUAL_LINES,
    ComposerIs,
    Condition,
    Cue,
    CursorIs,
    HasTitle,
    InRegion,
    OnAlternateScreen,
    RunsCommand,
)
from llmc.core.screen.dialog_text import Asks
from llmc.core.screen.patterns import UnsafePatternError, safe_pattern
from llmc.core.screen.screen import MOST_LINES
from llmc.core.screen.styles import STYLES
from llmc.errors import LlmcError

Table = Mapping[str, Any]

PACK_KEYS = {
    *("name", "version", "processes", "stable_looks", "chrome", "aside", "frame", "trim", "include"),
    *("composer", "cue"),
}
COMPOSER_KEYS = {
    "prompt",
    "rule",
    "bottom",
    "top",
    "footer",
    "placeholder",
    "hint",
    "history",
    "edge",
    "below",
    "otherwise",
}
CUE_KEYS = {
    *("name", "state", "detail", "when", "unless", "priority", "confidence", "guess", "summary", "actions", "examples"),
    *("choose", "advice", "yes", "no", "refuse", "asks"),
}


class PackError(LlmcError):
    """A pack file that cannot be used."""


class WrongError(Exception):
    """Something in the file is wrong: what, under which key, and what stands there."""

    def __init__(self, what: str, key: str, value: object = "") -> None:
        super().__init__(what)
        self.what = what
        self.key = key
        self.value = value if isinstance(value, str) else ""


def parse_pack(text: str, where: str, included: Callable[[str], tuple[Cue, ...]]) -> Pack:
    """The pack in this text. `included` gives the cues of another pack by its name."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise _complaint(where, 0, str(wrong)) from None
    try:
        cues = _cues(data, text, where)
        own = {cue.name for cue in cues}
        others = (cue for name in data.get("include", ()) for cue in included(name))
        return _pack(data, (*cues, *(cue for cue in others if cue.name not in own)))
    except WrongError as wrong:
        raise _complaint(where, _line_of(text, wrong), wrong.what) from None


def _complaint(where: str, line: int, what: str) -> PackError:
    return PackError(f"{where}{f':{line}' if line else ''}: {what}", "docs/packs.md tells how a pack is written")


def _pack(data: Table, cues: tuple[Cue, ...]) -> Pack:
    _known(data, PACK_KEYS)
    return Pack(
        name=_text(data, "name", needed=True),
        composer=_composer(data["composer"]) if "composer" in data else None,
        cues=tuple(sorted(cues, key=lambda cue: -cue.priority)),
        version=_text(data, "version"),
        process_names=_texts(data, "processes"),
        stable_looks=_number(data, "stable_looks", 3, 1, 100),
        chrome=_maybe_pattern(data, "chrome"),
        aside=_maybe_pattern(data, "aside"),
        frame=_maybe_pattern(data, "frame"),
        trim=_maybe_pattern(data, "trim"),
    )


def _composer(data: object) -> ComposerShape:
    if not isinstance(data, dict):
        raise WrongError("`composer` must be a table", "composer")
    _known(data, COMPOSER_KEYS)
    if "prompt" not in data:
        raise WrongError("the composer needs a `prompt`", "composer")
    patterns = {key: _pattern(data, key) for key in data if key not in ("otherwise", "below")}
    otherwise = _composer(data["otherwise"]) if "otherwise" in data else None
    return ComposerShape(**patterns, below=_number(data, "below", MOST_LINES, 0, MOST_LINES), otherwise=otherwise)


# --- cues -----------------------------------------------------------------------------------------


def _cues(data: Table, text: str, where: str) -> tuple[Cue, ...]:
    rows = data.get("cue", [])
    if not isinstance(rows, list):
        raise WrongError("`cue` must be written as [[cue]]", "cue")
    starts = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == "[[cue]]"]
    cues = []
    for row, first in zip(rows, [*starts, *[0] * len(rows)], strict=False):
        try:
            cues.append(_cue(row))
        except WrongError as wrong:
            raise _complaint(where, _line_of(text, wrong, first), f"{_named(row)}{wrong.what}") from None
    return tuple(cues)


def _named(row: object) -> str:
    name = row.get("name") if isinstance(row, dict) else None
    return f"cue {name!r}: " if isinstance(name, str) else ""


def _cue(row: Table) -> Cue:
    _known(row, CUE_KEYS)
    state = _one_of(row, "state", STATES)
    return Cue(
        name=_text(row, "name", needed=True),
        state=state,
        when=_conditions(row, "when", needed=True),
        unless=_conditions(row, "unless"),
        detail=_text(row, "detail") or None,
        priority=_number(row, "priority", PRIORITIES[state], 0, 1000),
        confidence=_share(row, "confidence", 0.9),
        guess="guess" in row and _truth(row, "guess"),
        summary=_text(row, "summary"),
        actions=_texts(row, "actions"),
        examples=_texts(row, "examples"),
        choose=_maybe_pattern(row, "choose"),
        advice=_text(row, "advice"),
        ways=Ways(_maybe_pattern(row, "yes"), _maybe_pattern(row, "no"), _text(row, "refuse")),
        asks=_asks(row),
    )


def _asks(row: Table) -> Asks | None:
    if "asks" not in row:
        return None
    asks = row["asks"]
    if not isinstance(asks, dict):
        raise WrongError("`asks` must be a table of patterns", "asks")
    _known(asks, {"after", "until", "line", "begins", "remark", "reported"}, "asks")
    line = _pattern(asks, "line")
    if "asked" not in line.groupindex:
        raise WrongError("the `line` of `asks` must have a group named `asked`: (?P<asked>...)", "asks")
    remark, reported = (key in asks and _truth(asks, key) for key in ("remark", "reported"))
    after, until, begins = _pattern(asks, "after"), _pattern(asks, "until"), _maybe_pattern(asks, "begins")
    return Asks(after, until, line, begins, remark, reported)


def _conditions(row: Table, key: str, *, needed: bool = False) -> tuple[Condition, ...]:
    rows = row.get(key, [])
    if not isinstance(rows, list) or not all(isinstance(condition, dict) for condition in rows):
        raise WrongError(f"`{key}` must be a list of conditions", key)
    if needed and not rows:
        raise WrongError(f"`{key}` needs at least one condition", key)
    return tuple(_condition(condition, key) for condition in rows)


def _condition(row: Table, key: str) -> Condition:
    if "in" in row:
        return _in_region(row)
    makers: dict[str, Callable[[], Condition]] = {
        "title": lambda: HasTitle(_pattern(row, "title")),
        "command": lambda: RunsCommand(frozenset(_texts(row, "command"))),
        "cursor": lambda: CursorIs(_one_of(row, "cursor", CURSOR_PLACES)),
        "alternate": lambda: OnAlternateScreen(_truth(row, "alternate")),
        "composer": lambda: ComposerIs(_one_of(row, "composer", COMPOSER_STATES)),
    }
    kinds = [kind for kind in makers if kind in row]
    if len(kinds) != 1 or len(row) != 1:
        raise WrongError(f"a condition of `{key}` has `in`, or exactly one of {', '.join(makers)}", key)
    return makers[kinds[0]]()


def _in_region(row: Table) -> Condition:
    _known(row, {"in", "text", "regex", "lines", "style"}, "when")
    if ("text" in row) == ("regex" in row):
        raise WrongError("a condition with `in` has either a `text` or a `regex`", "in", row["in"])
    pattern = re.compile(re.escape(_text(row, "text"))) if "text" in row else _pattern(row, "regex")
    style = _one_of(row, "style", STYLES) if "style" in row else ""
    return InRegion(_one_of(row, "in", REGIONS), pattern, _number(row, "lines", USUAL_LINES, 1, 400), style)


# --- values ---------------------------------------------------------------------------------------


def _known(data: Table, keys: set[str], where: str = "") -> None:
    for key in data:
        if key not in keys:
            raise WrongError(f"{key!r} is not known here; it can be {', '.join(sorted(keys))}", where or key)


def _text(data: Table, key: str, *, needed: bool = False) -> str:
    value = data.get(key, "")
    if not isinstance(value, str) or (needed and not value):
        raise WrongError(f"`{key}` must be a text", key)
    return value


def _texts(data: Table, key: str) -> tuple[str, ...]:
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise WrongError(f"`{key}` must be a list of texts", key)
    return tuple(value)


def _one_of(data: Table, key: str, choices: tuple[str, ...]) -> str:
    value = data.get(key)
    if value not in choices:
        raise WrongError(f"`{key}` must be one of {', '.join(choices)}", key, value)
    return str(value)


def _number(data: Table, key: str, usual: int, least: int, most: int) -> int:
    value = data.get(key, usual)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise WrongError(f"`{key}` must be a number from {least} to {most}", key)
    return value


def _share(data: Table, key: str, usual: float) -> float:
    value = data.get(key, usual)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        raise WrongError(f"`{key}` must be a number above 0 and up to 1", key)
    return float(value)


def _truth(data: Table, key: str) -> bool:
    value = data.get(key)
    if not isinstance(value, bool):
        raise WrongError(f"`{key}` must be true or false", key)
    return value


def _pattern(data: Table, key: str) -> re.Pattern[str]:
    try:
        return safe_pattern(_text(data, key, needed=True))
    except UnsafePatternError as unsafe:
        raise WrongError(f"the pattern of `{key}` cannot be used: {unsafe}", key, data[key]) from None


def _maybe_pattern(data: Table, key: str) -> re.Pattern[str] | None:
    return _pattern(data, key) if key in data else None


# --- lines ----------------------------------------------------------------------------------------


def _line_of(text: str, wrong: WrongError, first: int = 0) -> int:
    """The line of this key, in the block that begins at `first`; else where the block begins."""
    key = re.compile(rf"(?:^|[\s{{,\[]){re.escape(wrong.key)}\s*=|^\[+{re.escape(wrong.key)}\]+")
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if number > first and key.search(line):
            found.append((wrong.value not in line, number))
        if first and number > first and line.startswith("[["):
            break
    return min(found)[1] if found else first
