"""What an option can take. Each kind reads a value from TOML, and from the words of `llmc config set`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar

from llmc.config.text_checks import absolute_path, any_text, inner_file, some_text
from llmc.core.names import shown
from llmc.values import dataclass

T_co = TypeVar("T_co", covariant=True)
E = TypeVar("E", bound=StrEnum)

A_YEAR = 31_536_000

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_WHOLE = re.compile(r"[+-]?[0-9][0-9_]{0,17}")
_NUMBER = re.compile(r"[+-]?[0-9]{1,17}\.[0-9]{1,17}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FLAG_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


class MismatchError(ValueError):
    """The value is not what the option takes."""


class Kind(Protocol[T_co]):
    """`expects` completes the sentence "it must be ...", `example` is a right value as TOML writes it."""

    @property
    def word(self) -> str: ...
    @property
    def expects(self) -> str: ...
    @property
    def example(self) -> str: ...

    def read(self, raw: object) -> T_co:
        """The value of the option. Raises MismatchError."""

    def parse(self, text: str) -> object:
        """What the user typed, as the TOML value that it stands for; `read` has the last word on it."""


@dataclass(frozen=True, slots=True)
class Flag:
    word: str = "boolean"
    expects: str = "true or false"
    example: str = "true"

    def read(self, raw: object) -> bool:
        if not isinstance(raw, bool):
            raise MismatchError
        return raw

    def parse(self, text: str) -> object:
        return _FLAG_WORDS.get(text.strip().lower(), text)


@dataclass(frozen=True, slots=True)
class Whole:
    at_least: int
    at_most: int
    example: str
    word: str = "integer"

    @property
    def expects(self) -> str:
        return f"a whole number from {self.at_least} to {self.at_most}"

    def read(self, raw: object) -> int:
        if not isinstance(raw, int) or isinstance(raw, bool) or not self.at_least <= raw <= self.at_most:
            raise MismatchError
        return raw

    def parse(self, text: str) -> object:
        return _number(text)


@dataclass(frozen=True, slots=True)
class Seconds:
    """A duration. Fractions are taken; a year bounds it, because the clocks of the system overflow somewhere."""

    example: str
    zero: bool = False
    word: str = "seconds"

    @property
    def expects(self) -> str:
        return f"a number of seconds {'from' if self.zero else 'above'} 0, up to {A_YEAR}"

    def read(self, raw: object) -> float:
        if not isinstance(raw, int | float) or isinstance(raw, bool):
            raise MismatchError
        if not 0 <= raw <= A_YEAR or (raw == 0 and not self.zero):
            raise MismatchError
        return raw

    def parse(self, text: str) -> object:
        return _number(text)


@dataclass(frozen=True, slots=True)
class Text:
    """Newlines and tabs are text; other control characters are not, because a terminal would act on them."""

    example: str
    expects: str = "a string without control characters"
    fits: Callable[[str], bool] = any_text
    word: str = "string"

    def read(self, raw: object) -> str:
        if not isinstance(raw, str) or _CONTROL.search(raw) or not self.fits(raw):
            raise MismatchError
        return raw

    def parse(self, text: str) -> object:
        return text


@dataclass(frozen=True, slots=True)
class Place:
    """A directory of this machine."""

    example: str
    word: str = "path"
    expects: str = "an absolute path, or one that begins with `~/`"

    def read(self, raw: object) -> str:
        text = Text("", fits=absolute_path).read(raw)
        try:
            return str(Path(text).expanduser())
        except RuntimeError as homeless:
            raise MismatchError from homeless

    def parse(self, text: str) -> object:
        return text


@dataclass(frozen=True, slots=True)
class Choice(Generic[E]):
    words: type[E]
    word: str = "string"

    @property
    def expects(self) -> str:
        return "one of " + ", ".join(f'"{word}"' for word in self.words)

    @property
    def example(self) -> str:
        return f'"{next(iter(self.words))}"'

    def read(self, raw: object) -> E:
        if not isinstance(raw, str) or raw not in list(self.words):
            raise MismatchError
        return self.words(raw)

    def parse(self, text: str) -> object:
        return text.strip()


@dataclass(frozen=True, slots=True)
class Words:
    """A list of texts."""

    example: str
    expects: str = "a list of strings, none of them empty"
    fits: Callable[[str], bool] = some_text
    at_least: int = 0
    word: str = "list of strings"

    def read(self, raw: object) -> tuple[str, ...]:
        if not isinstance(raw, list) or len(raw) < self.at_least:
            raise MismatchError
        item = Text("", fits=self.fits)
        return tuple(item.read(one) for one in raw)

    def parse(self, text: str) -> object:
        """A TOML array, or simply words with commas between them."""
        text = text.strip()
        if text.startswith("[") and text.endswith("]"):
            return toml_value(text)
        return [word.strip() for word in text.split(",") if word.strip()]


@dataclass(frozen=True, slots=True)
class Variables:
    """A table of environment variables."""

    word: str = "table of strings"
    expects: str = "a table of environment variables with string values"
    example: str = '{ MODE = "tui" }'

    def read(self, raw: object) -> Mapping[str, str]:
        if not isinstance(raw, dict) or not all(_VARIABLE.fullmatch(name) for name in raw):
            raise MismatchError
        return MappingProxyType({name: Text("").read(value) for name, value in raw.items()})

    def parse(self, text: str) -> object:
        return toml_value(text)


@dataclass(frozen=True, slots=True)
class Files:
    """A table of files with their content."""

    word: str = "table of strings"
    expects: str = "a table of relative file names, without `..`, with their content"
    example: str = '{ "settings.json" = "{}" }'

    def read(self, raw: object) -> Mapping[str, str]:
        if not isinstance(raw, dict):
            raise MismatchError
        name = Text("", fits=inner_file)
        return MappingProxyType({name.read(each): Text("").read(value) for each, value in raw.items()})

    def parse(self, text: str) -> object:
        return toml_value(text)


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
