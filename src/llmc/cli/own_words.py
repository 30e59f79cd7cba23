"""LLMC's own words as the person can type them. Light on imports."""

from __future__ import annotations

from llmc.root import quoted

QUOTE_OTHERS = frozenset(("events", "logs", "peek", "review"))
"""Commands whose answer is not in LLMC's words."""


def with_root(text: str, given: str | None) -> str:
    """Each `llmc COMMAND` that is advised there, with the `--root` that this one was given."""
    return text.replace("`llmc ", f"`llmc --root {quoted(given)} ") if given else text


def given_root(argv: list[str]) -> str | None:
    """Of words that the parser may have refused."""
    for at, word in enumerate(argv):
        if word == "--root" and at + 1 < len(argv):
            return argv[at + 1]
        if word.startswith("--root="):
            return word.removeprefix("--root=")
    return None
