"""Values and keys as TOML writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED = re.compile(r'[\x00-\x08\x0a-\x1f"\\\x7f]')
_ESCAPED_IN_PARAGRAPH = re.compile(r'[\x00-\x08\x0b-\x1f\\\x7f]|"(?="|\Z)')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"}


def literal(value: object) -> str:
    """A text of several lines is written as such, so that it stays readable."""
    if isinstance(value, str) and "\n" in value:
        return f'"""\n{_ESCAPED_IN_PARAGRAPH.sub(_escape, value)}"""'
    return _flat(value)


def key_literal(part: str) -> str:
    return part if _BARE.fullmatch(part) else _flat(part)


def _flat(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{_ESCAPED.sub(_escape, value)}"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_flat, value))}]"
    if isinstance(value, Mapping):
        pairs = (f"{key_literal(str(name))} = {_flat(inner)}" for name, inner in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    return str(value)


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0], f"\\u{ord(match[0]):04x}")
