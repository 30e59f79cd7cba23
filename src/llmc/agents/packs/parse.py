"""A pack file, read and checked. Every complaint names the file and the line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from llmc.core.dialogs.choosing import Ways
from llmc.core.schema import (
    FLAG,
    Key,
    Misfit,
    MismatchError,
    MissingKey,
    Record,
    UnknownKey,
    ValueType,
    WrongValue,
    choice,
    list_of,
    record_of,
    text,
    what_is_wrong,
    whole,
)
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


class PackError(LlmcError):
    """A pack file that cannot be used."""


def parse_pack(content: str, where: str, included: Callable[[str], tuple[Cue, ...]]) -> Pack:
    """The pack in this text. `included` gives the cues of another pack by its name."""
    try:
        data = tomllib.loads(content)
    except tomllib.TOMLDecodeError as wrong:
        raise _complaint(where, 0, str(wrong)) from None
    try:
        pack = _PACK.read(data)
    except MismatchError as wrong:
        misfit = wrong.misfits[0]
        raise _complaint(where, _line_of(content, misfit), _named(data, misfit.key) + _words(misfit)) from None
    cues = pack.pop("cue", ())
    own = {cue.name for cue in cues}
    others = (cue for name in pack.pop("include", ()) for cue in included(name) if cue.name not in own)
    by_priority = sorted((*cues, *others), key=lambda cue: -cue.priority)
    return Pack(process_names=pack.pop("processes", ()), cues=tuple(by_priority), **pack)


def _complaint(where: str, line: int, what: str) -> PackError:
    return PackError(f"{where}{f':{line}' if line else ''}: {what}", "docs/packs.md tells how a pack is written")


# --- what a pack holds ----------------------------------------------------------------------------


def _pattern(value: object) -> re.Pattern[str]:
    try:
        return safe_pattern(_FULL_TEXT.read(value))
    except UnsafePatternError as unsafe:
        raise MismatchError(f"the pattern of KEY cannot be used: {unsafe}") from None


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise MismatchError
    return float(value)


_TEXT = text("", "a text")
_FULL_TEXT = text("", "a text", bool)
_TEXTS = ValueType("a list of texts", list_of(_TEXT).read)
_PATTERN = ValueType("a text", _pattern)
_SHARE = ValueType("a number above 0 and up to 1", _share)
_OWN: Mapping[Any, ValueType[Any]] = {
    str: _TEXT,
    "name": _FULL_TEXT,
    tuple[str, ...]: _TEXTS,
    re.Pattern[str]: _PATTERN,
}


def _number(at_least: int, at_most: int) -> ValueType[int]:
    return whole(at_least, at_most, number="number")


def _composer(value: object) -> ComposerShape:
    return _COMPOSER.read(value)


_COMPOSER_TABLE = ValueType("a table", _composer)
_COMPOSER = record_of(ComposerShape, {**_OWN, "below": _number(0, MOST_LINES), "otherwise": _COMPOSER_TABLE})


def _asks(**given: Any) -> Asks:  # noqa: ANN401 - each has its own type
    asks = Asks(**given)
    if "asked" not in asks.line.groupindex:
        raise MismatchError("the `line` of `asks` must have a group named `asked`: (?P<asked>...)")
    return asks


def _in_region(**given: Any) -> InRegion:  # noqa: ANN401 - each has its own type
    if ("text" in given) == ("regex" in given):
        raise MismatchError("a condition with `in` has either a `text` or a `regex`")
    pattern = given["regex"] if "regex" in given else re.compile(re.escape(given["text"]))
    return InRegion(given["in"], pattern, given.get("lines", USUAL_LINES), given.get("style", ""))


_IN_REGION = Record(
    _in_region,
    {
        "in": choice(REGIONS),
        "text": _TEXT,
        "regex": _PATTERN,
        "lines": _number(1, 400),
        "style": choice(STYLES),
    },
    required=["in"],
)
_OTHER_CONDITIONS: Mapping[str, tuple[ValueType[Any], Callable[[Any], Condition]]] = {
    "title": (_PATTERN, HasTitle),
    "command": (_TEXTS, lambda names: RunsCommand(frozenset(names))),
    "cursor": (choice(CURSOR_PLACES), CursorIs),
    "alternate": (FLAG, OnAlternateScreen),
    "composer": (choice(COMPOSER_STATES), ComposerIs),
}


def _condition(value: object) -> Condition:
    if isinstance(value, dict) and "in" in value:
        return _IN_REGION.read(value)
    if not isinstance(value, dict) or len(value) != 1 or not value.keys() <= _OTHER_CONDITIONS.keys():
        raise MismatchError(f"a condition of KEY has `in`, or exactly one of {', '.join(_OTHER_CONDITIONS)}")
    [(name, inner)] = value.items()
    takes, make = _OTHER_CONDITIONS[name]
    try:
        return make(takes.read(inner))
    except MismatchError as wrong:
        raise MismatchError(misfits=wrong.at(name, inner, takes)) from None


_CONDITION = ValueType("a condition", _condition)


def _cue(**given: Any) -> Cue:  # noqa: ANN401 - each has its own type
    ways = Ways(given.pop("yes", None), given.pop("no", None), given.pop("refuse", ""))
    detail = given.pop("detail", "") or None
    return Cue(**{"priority": PRIORITIES[given["state"]], **given}, detail=detail, ways=ways)


_WAYS = record_of(Ways, _OWN)
_ASKS = record_of(Asks, _OWN)
_CUE_FIELDS = record_of(
    Cue,
    {
        **_OWN,
        "state": choice(STATES),
        "when": list_of(_CONDITION, "a list of conditions, and not empty", at_least=1),
        "unless": list_of(_CONDITION, "a list of conditions"),
        "priority": _number(0, 1000),
        "confidence": _SHARE,
        "ways": _WAYS.as_type(),
        "asks": Record(_asks, _ASKS.types, _ASKS.required).as_type("a table of patterns"),
    },
)
_CUE_TYPES = {name: takes for name, takes in {**_CUE_FIELDS.types, **_WAYS.types}.items() if name != "ways"}
_CUE = Record(_cue, _CUE_TYPES, _CUE_FIELDS.required)


_PACK: Record[dict[str, Any]] = Record(
    dict,
    {
        **dict.fromkeys(("chrome", "aside", "frame", "trim"), _PATTERN),
        **dict.fromkeys(("processes", "include"), _TEXTS),
        "name": _FULL_TEXT,
        "version": _TEXT,
        "stable_looks": _number(1, 100),
        "composer": _COMPOSER_TABLE,
        "cue": list_of(_CUE.as_type("a table"), "written as [[cue]]"),
    },
    required=["name"],
)


# --- what is wrong --------------------------------------------------------------------------------


def _words(misfit: Misfit) -> str:
    name = _last_name(misfit.key)
    match misfit:
        case UnknownKey(known=known):
            return f"{name!r} is not known here; it can be {', '.join(sorted(known))}"
        case MissingKey(wanted=wanted):
            return f"`{name}` is missing: it must be {wanted.expects}"
        case WrongValue(wanted=wanted, reason=reason):
            return (reason or f"KEY must be {wanted.expects}").replace("KEY", f"`{name}`", 1)
    return what_is_wrong(misfit)


def _last_name(key: Key) -> str:
    return next(part for part in reversed(key) if isinstance(part, str))


def _named(data: Mapping[str, Any], key: Key) -> str:
    """Which cue it is."""
    match key:
        case ("cue", int(number), *_) if isinstance(data["cue"][number], dict):
            name = data["cue"][number].get("name")
            return f"cue {name!r}: " if isinstance(name, str) else ""
    return ""


def _line_of(content: str, misfit: Misfit) -> int:
    """The line of the key, in the block of its cue; else where the block begins."""
    lines = content.splitlines()
    first = 0
    key = misfit.key[:-1] if isinstance(misfit, MissingKey) else misfit.key
    match key:
        case ("cue", int(number), *_):
            starts = [at for at, line in enumerate(lines, 1) if line.strip() == "[[cue]]"]
            first = starts[number] if number < len(starts) else 0
    if not any(isinstance(part, str) for part in key[2 if first else 0 :]):
        return first
    name, value = _last_name(key), misfit.value if isinstance(misfit, WrongValue) else None
    pattern = re.compile(rf"(?:^|[\s{{,\[]){re.escape(name)}\s*=|^\[+(?:[\w.]+\.)?{re.escape(name)}\]+")
    found = []
    for at, line in enumerate(lines[first:], first + 1):
        if first and line.startswith("[["):
            break
        if pattern.search(line):
            found.append((isinstance(value, str) and value not in line, at))
    return min(found)[1] if found else first
