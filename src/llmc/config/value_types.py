"""What only the settings take: lines, places, words, tables of texts. And the words of `llmc config set`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from llmc.core.names import shown
from llmc.core.schema import MismatchError, ValueType, text
from llmc.core.text_checks import absolute_path, inner_file, printable, some_text

_WHOLE = re.compile(r"[+-]?[0-9][0-9_]{0,17}")
_NUMBER = re.compile(r"[+-]?[0-9]{1,17}\.[0-9]{1,17}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FLAG_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def string(
    example: str, expects: str = "a string without control characters", *fits: Callable[[str], bool]
) -> ValueType[str]:
    return text(example, expects, printable, *fits)


_PATH = string("", "", absolute_path)


def _place(value: object) -> str:
    try:
        return str(Path(_PATH.read(value)).expanduser())
    except RuntimeError as homeless:
        raise MismatchError from homeless


PLACE = ValueType("an absolute path, or one that begins with `~/`", _place, '"~/code/project"', "path")


def words(
    example: str,
    expects: str = "a list of strings, none of them empty",
    fits: Callable[[str], bool] = some_text,
    at_least: int = 0,
    word: str = "list of strings",
) -> ValueType[tuple[str, ...]]:
    item = string("", "", fits)

    def read(value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or len(value) < at_least:
            raise MismatchError
        return tuple(item.read(one) for one in value)

    return ValueType(expects, read, example, word)


def _table_of_texts(expects: str, example: str, fits: Callable[[str], object]) -> ValueType[Mapping[str, str]]:
    content = string("")

    def read(value: object) -> Mapping[str, str]:
        if not isinstance(value, dict) or not all(printable(name) and fits(name) for name in value):
            raise MismatchError
        return MappingProxyType({name: content.read(each) for name, each in value.items()})

    return ValueType(expects, read, example, "table of strings")


VARIABLES = _table_of_texts(
    "a table of environment variables with string values", '{ MODE = "tui" }', _VARIABLE.fullmatch
)
WORKER_VARIABLES = _table_of_texts(
    "a table of environment variables with string values; names that begin with `LLMC_` are LLMC's own",
    '{ DATABASE = "test" }',
    lambda name: _VARIABLE.fullmatch(name) and not name.startswith("LLMC_"),
)
FILES = _table_of_texts(
    "a table of relative file names, without `..`, with their content", '{ "settings.json" = "{}" }', inner_file
)


def typed(takes: ValueType[object], text: str) -> object:
    """What the user typed, as the TOML value that it stands for; `takes` has the last word on it."""
    match takes.word:
        case "boolean":
            return _FLAG_WORDS.get(text.strip().lower(), text)
        case "integer" | "seconds":
            return _number(text)
        case "list of strings" | "list of globs" | "list of paths" if not re.fullmatch(
            r"\s*\[.*\]\s*", text, re.DOTALL
        ):
            return [word.strip() for word in text.split(",") if word.strip()]
        case "string" | "path":
            return text
    return toml_value(text.strip())


def _number(text: str) -> object:
    text = text.strip()
    if _WHOLE.fullmatch(text):
        try:
            return int(text)
        except ValueError:  # `1__0`
            return text
    return float(text) if _NUMBER.fullmatch(text) else text


def toml_value(text: str) -> object:
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    # A newline in the text could have smuggled in more than the value.
    return table["value"] if len(table) == 1 else text


def found(raw: object) -> str:
    """The value that is there, for a message."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, int | float):
        # Python refuses to print integers of thousands of digits.
        return f"the number {raw}" if isinstance(raw, float) or abs(raw) < 10**18 else "a huge number"
    if isinstance(raw, str):
        return f'the string "{shown(raw)}"'
    if isinstance(raw, list):
        return f"the list [{shown(', '.join(_inside(one) for one in raw[:10]))}]"
    return "a table" if isinstance(raw, dict) else f"the date or time {raw}"


def _inside(raw: object) -> str:
    return f'"{raw}"' if isinstance(raw, str) else found(raw).removeprefix("the number ")
