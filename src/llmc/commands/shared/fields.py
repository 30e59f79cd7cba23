"""What a request of a face may say: its fields, each with its type, and the command that they become."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from llmc.errors import InvalidUsageError
from llmc.values import Value

SCHEMAS: Mapping[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "strings": {"type": "array", "items": {"type": "string"}},
}


class Field(Value):
    """One field of a body, or of the query."""

    name: str
    text: str
    kind: str = "string"
    needed: bool = False

    def read(self, given: Any) -> Any:  # noqa: ANN401 - whatever JSON has
        if not _fits(self.kind, given):
            raise InvalidUsageError(f"{self.name!r} is not right", f"it must be {_in_words(self.kind)}: {self.text}")
        return given


class Given(Value):
    """What a request says, read: names of the path, and the fields."""

    path: Mapping[str, str]
    fields: Mapping[str, Any]

    @property
    def worker(self) -> str:
        return self.path["worker"]

    @property
    def task(self) -> str:
        return self.path["task"]

    def get(self, name: str, otherwise: Any = None) -> Any:  # noqa: ANN401
        return self.fields.get(name, otherwise)

    def option(self, name: str, word: str) -> list[str]:
        """The field as an option of the command; nothing when it was not given."""
        value = self.fields.get(name)
        if value is None or value is False:
            return []
        if value is True:
            return [word]
        values = value if isinstance(value, list) else [value]
        return [f"{word}={each}" for each in values]


class CommandWords(Value):
    """Of a command, without `--json`."""

    argv: tuple[str, ...]
    stdin: str = ""


def read_body(body: bytes, fields: Sequence[Field]) -> dict[str, Any]:
    """Raises InvalidUsageError for what is no JSON object with these fields."""
    try:
        given = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise InvalidUsageError("the body is not JSON", "send a JSON object") from None
    if not isinstance(given, dict):
        raise InvalidUsageError("the body is not a JSON object", f"it may have: {_names(fields)}")
    return read_fields(given, fields)


def read_fields(given: Mapping[str, Any], fields: Sequence[Field]) -> dict[str, Any]:
    """Raises InvalidUsageError for what is no field, of another type, or missing."""
    if unknown := sorted(set(given) - {field.name for field in fields}):
        raise InvalidUsageError(f"there is no field {unknown[0]!r}", f"it may have: {_names(fields)}")
    if missing := [field.name for field in fields if field.needed and given.get(field.name) is None]:
        raise InvalidUsageError(f"{missing[0]!r} is missing", f"it must have: {', '.join(missing)}")
    return {field.name: field.read(given[field.name]) for field in fields if given.get(field.name) is not None}


def read_query(query: Mapping[str, str], fields: Sequence[Field]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for field in fields:
        text = query.get(field.name)
        if text is None:
            continue
        if field.kind == "integer" and text.isdecimal() and len(text) < 10:
            given[field.name] = int(text)
        else:
            given[field.name] = field.read(text)
    return given


def _fits(kind: str, given: Any) -> bool:  # noqa: ANN401
    if kind == "string":
        return isinstance(given, str) and _is_text(given)
    if kind == "strings":
        return isinstance(given, list) and len(given) <= 1000 and all(_fits("string", each) for each in given)
    if kind == "boolean":
        return isinstance(given, bool)
    types = int if kind == "integer" else int | float
    return isinstance(given, types) and not isinstance(given, bool) and abs(given) < 10**9


def _is_text(text: str) -> bool:
    """No half characters, and nothing that cannot be a word of a command."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _names(fields: Sequence[Field]) -> str:
    return ", ".join(field.name for field in fields) or "nothing"


def _in_words(kind: str) -> str:
    return {"strings": "a list of strings", "integer": "a whole number"}.get(kind, f"a {kind}")
