"""Answers as JSON. `import json` would take longer than a whole `llmc status`, and its indenting encoder is slow."""

from __future__ import annotations

import sys

try:
    from _json import encode_basestring, encode_basestring_ascii
except ImportError:
    from json.encoder import encode_basestring, encode_basestring_ascii

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

INDENT = "  "


def as_json(data: object) -> str:
    """Exact for scripts, and nothing in it that a terminal would act upon."""
    text = _text(data, encode_basestring if _speaks_unicode() else encode_basestring_ascii, "\n")
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else encode_basestring_ascii(c)[1:-1] for c in text)


def _speaks_unicode() -> bool:
    return sys.stdout.encoding.lower() in ("utf-8", "utf8")


def _text(value: object, quote: Callable[[str], str], newline: str) -> str:
    """`newline` with the indentation of this value."""
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    inner = newline + INDENT
    if isinstance(value, dict):
        fields = (f"{quote(str(key))}: {_text(field, quote, inner)}" for key, field in value.items())
        return _listed("{", fields, "}", newline)
    if isinstance(value, list | tuple):
        return _listed("[", (_text(item, quote, inner) for item in value), "]", newline)
    return quote(str(value))


def _listed(opening: str, items: Iterable[str], closing: str, newline: str) -> str:
    inside = f",{newline}{INDENT}".join(items)
    return f"{opening}{newline}{INDENT}{inside}{newline}{closing}" if inside else opening + closing
