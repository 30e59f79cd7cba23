"""How a dataclass says what its fields take in `config.toml`: the dataclasses are the schema of the settings. Pure."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any, TypeVar, cast

from llmc.core.schema import MismatchError, Record, ValueType, list_of
from llmc.values import Value

T = TypeVar("T")

_ABOUT = "setting"
A_YEAR = 31_536_000


def seconds(example: str, *, zero: bool = False) -> ValueType[float]:
    """A duration. Fractions are taken; a year bounds it, because the clocks of the system overflow somewhere."""

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= A_YEAR:
            raise MismatchError
        if value == 0 and not zero:
            raise MismatchError
        return value

    expects = f"a number of seconds {'from' if zero else 'above'} 0, up to {A_YEAR}"
    return ValueType(expects, read, example, "seconds")


class Setting(Value):
    """One key of the settings file."""

    takes: ValueType[object]
    meaning: str
    default: object = None
    when_unset: str = ""
    """What holds when the key is absent, where the default value alone does not tell."""
    is_required: bool = False
    rows: type[Any] | None = None
    """Of a list of tables: the dataclass that each of them becomes."""


def option(takes: ValueType[T], default: T, meaning: str, when_unset: str = "") -> T:
    return _field(default, Setting(takes, meaning, default, when_unset))


def required(takes: ValueType[T], meaning: str) -> T:
    return cast(T, field(metadata={_ABOUT: Setting(takes, meaning, is_required=True)}))


def rows(shape: type[T], example: str, meaning: str) -> tuple[T, ...]:
    """A list of tables, such as `[[policy.auto_confirm]]`."""
    every = list_of(settings_record(shape).as_type("a table"))

    def read(value: object) -> tuple[T, ...]:
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            raise MismatchError
        return every.read(value)

    takes = ValueType("a list of tables", read, example, "list of tables")
    return _field((), Setting(takes, meaning, (), rows=shape))


def _field(default: T, about: Setting) -> T:
    # dataclasses refuse an unhashable default, and a mapping is one.
    return field(default_factory=lambda: default, metadata={_ABOUT: about})


def settings_of(shape: type[Any]) -> dict[str, Setting]:
    return {each.name: each.metadata[_ABOUT] for each in fields(shape)}


def settings_record(shape: type[T]) -> Record[T]:
    """The table of settings that becomes this dataclass, whose fields were made by `option`, `required` and `rows`."""
    settings = settings_of(shape)
    types = {name: about.takes for name, about in settings.items()}
    needed = [name for name, about in settings.items() if about.is_required]
    return Record(shape, types, needed, defaults={name: about.default for name, about in settings.items()})
