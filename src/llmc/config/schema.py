"""How a dataclass of settings says what each of its fields takes: the dataclasses are the schema."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any, TypeVar, cast

from llmc.config.value_types import Kind, toml_value
from llmc.values import dataclass

T = TypeVar("T")

_ABOUT = "option"

Shape = type[Any]
"""A dataclass whose fields were made by `option`, `required` and `rows`."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A list of tables of one shape, such as `[[policy.auto_confirm]]`."""

    shape: Shape
    example: str
    word: str = "list of tables"
    expects: str = "a list of tables"

    def parse(self, text: str) -> object:
        return toml_value(text)


@dataclass(frozen=True, slots=True)
class Option:
    """One key of the settings file."""

    kind: Kind[object] | Rows
    meaning: str
    default: object = None
    when_unset: str = ""
    """What holds when the key is absent, where the default value alone does not tell."""
    is_required: bool = False


def option(kind: Kind[T], default: T, meaning: str, when_unset: str = "") -> T:
    return _field(default, Option(kind, meaning, default, when_unset))


def rows(shape: type[T], example: str, meaning: str) -> tuple[T, ...]:
    none: tuple[T, ...] = ()
    return _field(none, Option(Rows(shape, example), meaning, none))


def required(kind: Kind[T], meaning: str) -> T:
    return cast(T, field(metadata={_ABOUT: Option(kind, meaning, is_required=True)}))


def _field(default: T, about: Option) -> T:
    # dataclasses refuse an unhashable default, and a mapping is one.
    return field(default_factory=lambda: default, metadata={_ABOUT: about})


def options_of(shape: Shape) -> dict[str, Option]:
    return {one.name: one.metadata[_ABOUT] for one in fields(shape)}
