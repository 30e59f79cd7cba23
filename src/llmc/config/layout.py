"""Where the statements of a TOML text stand. The text must be valid: tomllib has read it before."""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmc.config.keys import unquoted
from llmc.core.schema import Key
from llmc.values import Value

_TOKEN = re.compile(
    r'''(?P<string>"""(?:\\[\s\S]|[^\\])*?"{3,5}|\'\'\'[\s\S]*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')'''
    r"|(?P<comment>#[^\n]*)|(?P<newline>\n)|(?P<opens>[\[{])|(?P<closes>[\]}])"
    r"|(?P<bare>[A-Za-z0-9_-]+)|(?P<equals>=)|(?P<other>\S)"
)


class Statement(Value):
    """`[table]`, `[[table]]` or `key = value`, from its first to its last character; a comment is no part of it."""

    key: Key
    is_header: bool
    start: int
    end: int


def statements(text: str) -> list[Statement]:
    table: Key = ()
    rows: dict[Key, int] = {}
    found = []
    for tokens in _logical_lines(text):
        key = _key(tokens)
        is_header = tokens[0].group() == "["
        if is_header and tokens[1].group() == "[":
            rows[key] = rows.get(key, -1) + 1
            key = (*key, rows[key])
        if is_header:
            table = key
        found.append(Statement(key if is_header else (*table, *key), is_header, tokens[0].start(), tokens[-1].end()))
    return found


def _logical_lines(text: str) -> Iterator[list[re.Match[str]]]:
    """The tokens of each statement; a newline inside brackets or strings ends none."""
    tokens: list[re.Match[str]] = []
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"opens": 1, "closes": -1}.get(str(token.lastgroup), 0)
        if token.lastgroup == "newline" and depth == 0 and tokens:
            yield tokens
            tokens = []
        elif token.lastgroup not in ("newline", "comment"):
            tokens.append(token)
    if tokens:
        yield tokens


def _key(tokens: list[re.Match[str]]) -> Key:
    parts: list[str] = []
    for token in tokens:
        if token.lastgroup == "equals":
            break
        if token.lastgroup in ("bare", "string"):
            parts.append(unquoted(token.group()))
    return tuple(parts)


class Lines:
    """The line of each key."""

    def __init__(self, text: str) -> None:
        self._of: dict[Key, int] = {}
        for statement in statements(text):
            line = text.count("\n", 0, statement.start) + 1
            for length in range(len(statement.key), 0, -1):
                self._of.setdefault(statement.key[:length], line)

    def line(self, key: Key) -> int | None:
        """The line of the key, or of what it stands in."""
        for length in range(len(key), 0, -1):
            if key[:length] in self._of:
                return self._of[key[:length]]
        return None
