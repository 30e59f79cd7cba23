"""Values as JSON has them: every dataclass an object of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from functools import cache
from typing import Any

from llmc.model import Json


def json_value(value: Any) -> Json:  # noqa: ANN401 - whatever a field holds
    if value is None or type(value) in (str, bool, int, float):
        return value  # type: ignore[no-any-return]
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): json_value(inner) for name, inner in value.items()}
    return json_object(value)


def json_object(value: Any) -> dict[str, Json]:  # noqa: ANN401 - any dataclass
    return {name: json_value(getattr(value, name)) for name in _names(value.__class__)}


@cache
def _names(shape: Any) -> tuple[str, ...]:  # noqa: ANN401 - any dataclass
    return tuple(field.name for field in fields(shape))
