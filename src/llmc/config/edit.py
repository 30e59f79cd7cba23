"""Changes the text of `config.toml` and leaves every comment, blank line and order as it is.

A change of a value is left to tomlkit. New keys, new tables and removals are placed by line, because a comment above
a table belongs to that table for its reader, while tomlkit counts it to the table before. Every result is read back:
nothing leaves this module that does not say exactly what was asked for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable

from llmc.config.keys import dotted
from llmc.config.layout import Statement, statements
from llmc.config.literals import key_literal, literal
from llmc.errors import LlmcError

Key = tuple[str, ...]
Raw = Mapping[str, object]
Way = Callable[[str], str]

_COMMENT_LINES = re.compile(r"(?:[ \t]*#[^\n]*(?:\n|\Z))*")


class EditError(LlmcError):
    """The file is written in a way in which it cannot be changed without touching more than was asked for."""


def with_value(text: str, key: Key, value: object) -> str:
    raw = tomllib.loads(text)
    ways = [partial(_replaced, key=key, value=value)]
    if value_at(raw, key) is None:
        ways.insert(0, partial(_with_line, key=key, value=value))
    return _first_right(text, ways, changed(raw, key, value), key)


def with_table(text: str, key: Key, values: Raw) -> str:
    """The table exists afterwards, with these values beside those that it had."""
    raw = tomllib.loads(text)
    if value_at(raw, key) is not None:
        for name, value in values.items():
            text = with_value(text, (*key, name), value)
        return text
    ways = [partial(_with_block, key=key, values=values), partial(_replaced, key=key, value=values)]
    return _first_right(text, ways, changed(raw, key, dict(values)), key)


def without_table(text: str, key: Key) -> str:
    raw = tomllib.loads(text)
    if value_at(raw, key) is None:
        return text
    ways = [partial(_cut, key=key), partial(_deleted, key=key)]
    return _first_right(text, ways, changed(raw, key, None), key)


def value_at(raw: Raw, key: Key) -> object:
    """The value under the key; None when there is none."""
    value: object = raw
    for part in key:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def changed(raw: Raw, key: Key, value: object) -> dict[str, object]:
    """The settings with this one value changed; with None, taken away."""
    part, *rest = key
    if not rest:
        return {**raw, part: value} if value is not None else {name: raw[name] for name in raw if name != part}
    inner = raw.get(part, {})
    if not isinstance(inner, dict):
        raise _cannot(key)
    return {**raw, part: changed(inner, tuple(rest), value)}


def _first_right(text: str, ways: Iterable[Way], wanted: Raw, key: Key) -> str:
    for way in ways:
        try:
            result = way(text)
            if _without_empty(tomllib.loads(result)) == _without_empty(wanted):
                return result
        except (tomllib.TOMLDecodeError, TOMLKitError):
            continue
    raise _cannot(key)


def _without_empty(raw: Raw) -> dict[str, object]:
    return {name: value for name, value in raw.items() if value != {}}


def _cannot(key: Key) -> EditError:
    return EditError(
        f"`{dotted(key)}` cannot be changed in the way that the settings file is written",
        "change it in an editor, then run `llmc config check`",
    )


def _replaced(text: str, key: Key, value: object) -> str:
    document = tomlkit.parse(text)
    table: Any = document
    for part in key[:-1]:
        if part not in table:
            table[part] = tomlkit.inline_table() if isinstance(table, InlineTable) else tomlkit.table()
        table = table[part]
    table[key[-1]] = tomlkit.value(literal(value))
    return document.as_string()


def _deleted(text: str, key: Key) -> str:
    document = tomlkit.parse(text)
    table: Any = document
    for part in key[:-1]:
        table = table[part]
    del table[key[-1]]
    return document.as_string()


def _with_line(text: str, key: Key, value: object) -> str:
    """A new line below the last one of its table; a new table when there is none."""
    for block in _blocks(text):
        if block[0].is_header and block[0].key == key[:-1]:
            return _inserted(text, _line_end(text, block[-1].end), f"{key_literal(key[-1])} = {literal(value)}\n")
    return _with_block(text, key[:-1], {key[-1]: value})


def _with_block(text: str, key: Key, values: Raw) -> str:
    """A new table below the last of its kind, or at the end."""
    kin = [block for block in _blocks(text) if block[0].is_header and block[0].key[:1] == key[:1]]
    at = _block_end(text, kin[-1]) if kin else len(text)
    lines = [f"\n[{'.'.join(map(key_literal, key))}]\n"]
    lines += [f"{key_literal(name)} = {literal(value)}\n" for name, value in values.items()]
    return _inserted(text, at, "".join(lines))


def _inserted(text: str, at: int, lines: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    before = text[:at]
    if before and not before.endswith("\n"):
        before += newline
    return before + lines.replace("\n", newline) + text[at:]


def _cut(text: str, key: Key) -> str:
    for block in reversed(_blocks(text)):
        if block[0].is_header and block[0].key[: len(key)] == key:
            text = _without_block(text, block)
            continue
        for statement in reversed(block):
            if not statement.is_header and statement.key[: len(key)] == key:
                text = text[: _line_start(text, statement)] + text[_line_end(text, statement.end) :]
    return text


def _without_block(text: str, block: list[Statement]) -> str:
    before, after = text[: _line_start(text, block[0])], text[_block_end(text, block) :]
    if not after.strip():
        newline = "\r\n" if "\r\n" in text else "\n"
        return before.rstrip() + newline if before.strip() else ""
    blank_above = not before or before.endswith(("\n\n", "\n\r\n"))
    return before + (after.lstrip("\r\n") if blank_above else after)


def _blocks(text: str) -> list[list[Statement]]:
    """Each table header with the statements below it; what stands above the first header comes first."""
    blocks: list[list[Statement]] = []
    for statement in statements(text):
        if statement.is_header or not blocks:
            blocks.append([])
        blocks[-1].append(statement)
    return blocks


def _block_end(text: str, block: list[Statement]) -> int:
    """Comments right below a table are its own, unless the next table follows on them without a blank line."""
    end = _line_end(text, block[-1].end)
    comments = _COMMENT_LINES.match(text, end)
    below = comments.end() if comments else end
    return end if text[below:].lstrip(" \t").startswith("[") else below


def _line_start(text: str, statement: Statement) -> int:
    return text.rfind("\n", 0, statement.start) + 1


def _line_end(text: str, offset: int) -> int:
    """The offset of the next line."""
    return text.find("\n", offset) + 1 or len(text)
