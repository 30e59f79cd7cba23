"""One reader for the state, the settings and the packs: what a file says becomes dataclasses. Pure.

Each field takes one type of value, by the type of the field or by a type of its own where that does not say enough.
Everything that does not fit is noted with its place; the words for it are up to whoever knows the file.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from types import MappingProxyType, NoneType
from typing import Any, Generic, TypeVar, cast, get_args, get_origin, get_type_hints

from llmc.values import Value

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
C = TypeVar("C")

Key = tuple[str | int, ...]


class ValueType(Value, Generic[T_co]):
    """`read` raises MismatchError. `expects` completes the sentence "it must be ..."."""

    expects: str
    read: Callable[[object], T_co]
    example: str = ""
    """A right value, as TOML writes it."""
    word: str = ""
    """For a table of all settings."""


class Misfit(Value):
    """One thing in a file that is wrong, and where."""

    key: Key

    def below(self, part: str | int) -> Misfit:
        return replace(self, key=(part, *self.key))


class UnknownKey(Misfit):
    value: object
    known: tuple[str, ...]


class MissingKey(Misfit):
    wanted: ValueType[object]


class WrongValue(Misfit):
    value: object
    wanted: ValueType[object]
    reason: str = ""
    """A whole sentence about it; KEY stands for its name."""


def what_is_wrong(misfit: Misfit) -> str:
    """The end of a sentence that begins with the key."""
    match misfit:
        case WrongValue(value=value, wanted=wanted):
            return f"must be {wanted.expects}, not {reprlib.repr(value)}"
        case MissingKey():
            return "is missing"
    return "is not known to this version"


def path_of(key: Iterable[str | int]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).removeprefix(".")


class MismatchError(ValueError):
    """The value is not what its place takes: because of the `misfits` inside it, or as a whole."""

    def __init__(self, reason: str = "", misfits: Iterable[Misfit] = (), instead: object = None) -> None:
        self.reason = reason
        self.misfits = tuple(misfits)
        self.instead = instead
        """A stand-in, for whoever reads on to find out what else is wrong."""

    def __str__(self) -> str:
        return self.reason or "; ".join(f"{path_of(misfit.key)} {what_is_wrong(misfit)}" for misfit in self.misfits)

    def at(self, part: str | int, value: object, wanted: ValueType[object]) -> list[Misfit]:
        if self.misfits:
            return [misfit.below(part) for misfit in self.misfits]
        return [WrongValue((part,), value, wanted, self.reason)]


class Record(Generic[T]):
    """A table whose keys are known; `make` takes what could be read by name."""

    def __init__(
        self,
        make: Callable[..., T],
        types: Mapping[str, ValueType[Any]],
        required: Collection[str],
        ignored: Collection[str] = (),
        defaults: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        self.types = types
        self._readers = {
            **dict.fromkeys(ignored, lambda value: value),
            **{name: each.read for name, each in types.items()},
        }
        self._make = make
        self.required = frozenset(required)
        self._ignored = ignored
        self._defaults = defaults

    def read(self, raw: object) -> T:
        readers = self._readers
        try:
            # What is wrong is looked for only where something is: a state has thousands of fields.
            values = {name: readers[name](value) for name, value in raw.items()}  # type: ignore[attr-defined]
        except (AttributeError, KeyError, MismatchError, RecursionError):
            raise self._mismatch(raw) from None
        if not self.required <= values.keys():
            raise self._mismatch(raw)
        for name in self._ignored:
            values.pop(name, None)
        return self._make(**values)

    def stand_in(self, values: Mapping[str, object] = MappingProxyType({})) -> T:
        return self._make(**{**self._defaults, **values})

    def as_type(self, expects: str = "an object") -> ValueType[T]:
        return ValueType(expects, self.read)

    def _mismatch(self, raw: object) -> MismatchError:
        if not isinstance(raw, dict):
            return MismatchError(instead=self.stand_in() if self._defaults else None)
        values: dict[str, Any] = {}
        misfits: list[Misfit] = []
        for name, value in raw.items():
            wanted = self.types.get(name)
            if wanted is not None:
                try:
                    values[name] = wanted.read(value)
                except MismatchError as wrong:
                    misfits += wrong.at(name, value, wanted)
                    if wrong.instead is not None:
                        values[name] = wrong.instead
                except RecursionError:
                    misfits.append(WrongValue((name,), value, _SHALLOW))
            elif name not in self._ignored:
                misfits.append(UnknownKey((name,), value, tuple(self.types)))
        misfits += [MissingKey((name,), self.types[name]) for name in sorted(self.required - raw.keys())]
        return MismatchError("", misfits, self.stand_in(values) if self._defaults else None)


def record_of(
    shape: type[T],
    own: Mapping[Any, ValueType[Any]] = MappingProxyType({}),
    *,
    required: Iterable[str] = (),
    ignored: Collection[str] = (),
) -> Record[T]:
    """The fields of a dataclass. `own` has types of values by the name of a field, or by its type."""
    hints = get_type_hints(shape)
    types = {name: own.get(name) or type_of(hint, own) for name, hint in hints.items()}
    return Record(shape, types, {*_without_default(shape), *required}, ignored)


def _without_default(shape: Any) -> Iterable[str]:  # noqa: ANN401 - any dataclass
    return (each.name for each in fields(shape) if each.default is MISSING and each.default_factory is MISSING)


def type_of(hint: Any, own: Mapping[Any, ValueType[Any]]) -> ValueType[Any]:  # noqa: ANN401 - a type hint has no type
    known = own.get(hint) or _PLAIN.get(hint)
    if known is not None:
        return known
    inner = [choice for choice in get_args(hint) if choice not in (NoneType, Ellipsis)]
    if get_origin(hint) is tuple:
        return list_of(type_of(inner[0], own))
    if get_origin(hint) is Mapping:
        return by_name(type_of(inner[1], own))
    if not inner:
        return record_of(cast(type[Any], hint), own).as_type() if is_dataclass(hint) else choice(hint)
    return optional(type_of(inner[0], own)) if len(inner) == 1 else JSON


# --- types of values ------------------------------------------------------------------------------


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise MismatchError
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise MismatchError
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise MismatchError
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise MismatchError
    return float(value)


def _json(value: object) -> object:
    """Refuses only what a file cannot say, such as infinity, which Python's own parser makes of 1e999."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return _number(value)
        case list():
            return [_json(item) for item in value]
        case dict():
            return {_text(key): _json(item) for key, item in value.items()}
    raise MismatchError


TEXT = ValueType("text", _text)
FLAG = ValueType("true or false", _flag, "true", "boolean")
COUNT = ValueType("a count", _count)
NUMBER = ValueType("a number", _number)
JSON = ValueType("JSON", _json)
_SHALLOW = ValueType("nested less deeply", _json)
_PLAIN: Mapping[Any, ValueType[Any]] = {str: TEXT, bool: FLAG, int: COUNT, float: NUMBER}


def text(example: str, expects: str, *fits: Callable[[str], bool], word: str = "string") -> ValueType[str]:
    def read(value: object) -> str:
        if not isinstance(value, str) or not all(fit(value) for fit in fits):
            raise MismatchError
        return value

    return ValueType(expects, read, example, word)


def whole(at_least: int, at_most: int, example: str = "", number: str = "whole number") -> ValueType[int]:
    def read(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not at_least <= value <= at_most:
            raise MismatchError
        return value

    return ValueType(f"a {number} from {at_least} to {at_most}", read, example, "integer")


def choice(words: Iterable[T]) -> ValueType[T]:
    """One of these texts; of an enum, its member."""
    known = {str(word): word for word in words}

    def read(value: Any) -> T:  # noqa: ANN401 - whatever a file says
        try:
            return known[value]
        except (KeyError, TypeError):
            raise MismatchError from None

    return ValueType(f"one of {', '.join(known)}", read)


def optional(one: ValueType[T]) -> ValueType[T | None]:
    read = one.read
    return ValueType(one.expects, lambda value: None if value is None else read(value))


def list_of(one: ValueType[T], expects: str = "a list", at_least: int = 0) -> ValueType[tuple[T, ...]]:
    def read(value: object) -> tuple[T, ...]:
        if not isinstance(value, list) or len(value) < at_least:
            raise MismatchError
        return _all(one, enumerate(value), lambda found: tuple(found.values())) if value else ()

    return ValueType(expects, read)


def by_name(one: ValueType[T], expects: str = "an object") -> ValueType[Mapping[str, T]]:
    def read(value: object) -> Mapping[str, T]:
        if not isinstance(value, dict) or (value and any(not isinstance(name, str) for name in value)):
            raise MismatchError(instead=MappingProxyType({}))
        return _all(one, value.items(), MappingProxyType)

    return ValueType(expects, read)


def _all(one: ValueType[T], items: Iterable[tuple[Any, object]], make: Callable[[dict[Any, T]], C]) -> C:
    found: dict[Any, T] = {}
    misfits: list[Misfit] = []
    read = one.read
    for part, value in items:
        try:
            found[part] = read(value)
        except MismatchError as wrong:
            misfits += wrong.at(part, value, one)
            if wrong.instead is not None:
                found[part] = cast(T, wrong.instead)
    if misfits:
        raise MismatchError("", misfits, make(found))
    return make(found)
