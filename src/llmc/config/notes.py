"""Reads the tables of a settings file into their dataclasses, and notes everything that does not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeVar

from llmc.config.keys import Key, dotted
from llmc.config.problems import Problem
from llmc.config.schema import Option, Rows, options_of
from llmc.config.suggest import advice_for
from llmc.config.value_types import Kind, MismatchError, found

S = TypeVar("S")

CheckName = Callable[[str], Problem | None]


class Reading:
    """One pass over a file. What is wrong goes to `problems`, and a harmless stand-in takes its place."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def known(self, raw: Mapping[str, object], key: Key, names: list[str]) -> None:
        """Notes every key that is not among the names."""
        for name, value in raw.items():
            if name not in names:
                own = (*key, name)
                kind = "table" if isinstance(value, dict) else "key"
                self.note(own, f"unknown {kind} `{dotted(own)}`", advice_for(own, names))

    def table(self, shape: type[S], raw: object, key: Key) -> S:
        options = options_of(shape)
        entries = self._entries(raw, key)
        if entries is None:
            return shape(**{name: about.default for name, about in options.items()})
        self.known(entries, key, list(options))
        values = {name: self._value(about, entries, (*key, name)) for name, about in options.items()}
        return shape(**values)

    def named(self, shape: type[S], raw: object, key: Key, check_name: CheckName) -> Mapping[str, S]:
        """A table that holds a table per name."""
        entries = self._entries(raw, key) or {}
        for name in entries:
            problem = check_name(name)
            if problem:
                self.problems.append(problem)
        return MappingProxyType({name: self.table(shape, value, (*key, name)) for name, value in entries.items()})

    def note(self, key: Key, what: str, advice: str) -> None:
        self.problems.append(Problem(key, what, advice))

    def fine(self, *key: str | int) -> bool:
        """Nothing was wrong with the key, nor with anything inside it."""
        return not any(problem.key[: len(key)] == key for problem in self.problems)

    def _entries(self, raw: object, key: Key) -> dict[str, object] | None:
        if isinstance(raw, dict):
            return raw
        self.note(key, f"`{dotted(key)}` is {found(raw)}, but must be a table", f"write it as `[{dotted(key)}]`")
        return None

    def _value(self, about: Option, entries: Mapping[str, object], key: Key) -> object:
        name = str(key[-1])
        if name in entries:
            return self._read(about, entries[name], key)
        if about.is_required:
            place = f"under `[{dotted(key[:-1])}]`" if isinstance(key[-2], str) else f"to `{dotted(key[:-1])}`"
            self.note(key, f"`{dotted(key)}` is missing", f"add `{name} = {about.kind.example}` {place}")
        return about.default

    def _read(self, about: Option, raw: object, key: Key) -> object:
        if isinstance(about.kind, Rows):
            return self._rows(about.kind, raw, key)
        try:
            return about.kind.read(raw)
        except MismatchError:
            self._mismatch(about.kind, raw, key)
            return about.default

    def _rows(self, kind: Rows, raw: object, key: Key) -> tuple[object, ...]:
        if not isinstance(raw, list) or not all(isinstance(row, dict) for row in raw):
            self._mismatch(kind, raw, key)
            return ()
        return tuple(self.table(kind.shape, row, (*key, number)) for number, row in enumerate(raw))

    def _mismatch(self, kind: Kind[object] | Rows, raw: object, key: Key) -> None:
        self.note(
            key,
            f"`{dotted(key)}` is {found(raw)}, but must be {kind.expects}",
            f"for example `{key[-1]} = {kind.example}`",
        )
