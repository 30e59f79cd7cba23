"""Keys of the settings: `repo.validate`, `workers.adam.model`, `policy.auto_confirm[0].kind`."""

from __future__ import annotations

import re
import tomllib

from llmc.core.names import shown
from llmc.core.schema import Key
from llmc.errors import InvalidUsageError

_PART = r""""(?:\\.|[^"\\\n])*"|'[^'\n]*'|[A-Za-z0-9_-]+"""
_PARTS = re.compile(_PART)
_DOTTED = re.compile(rf"\s*(?:{_PART})\s*(?:\.\s*(?:{_PART})\s*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def split_key(dotted: str) -> tuple[str, ...]:
    """`workers."a.b".model` as its parts, by TOML's own rules."""
    try:
        if _DOTTED.fullmatch(dotted):
            return tuple(unquoted(part) for part in _PARTS.findall(dotted))
    except tomllib.TOMLDecodeError:
        pass
    raise InvalidUsageError(
        f"`{shown(dotted)}` is not the name of an option",
        "write it with dots, such as `repo.validate` or `workers.adam.model`",
    )


def unquoted(part: str) -> str:
    """A part of a key as it is written in TOML: bare or in quotes."""
    return str(tomllib.loads(f"part = {part}")["part"]) if part[0] in "\"'" else part


def dotted(key: Key) -> str:
    """The key for a message: as TOML writes it, but never long and without control characters."""
    words = ""
    for part in key:
        words += f"[{part}]" if isinstance(part, int) else f".{_written(part)}"
    return words.removeprefix(".")


def _written(part: str) -> str:
    short = shown(part)
    return short if _BARE.fullmatch(short) else f'"{short}"'
