"""LLMC's own words as the person can type them. Light on imports."""

from __future__ import annotations

QUOTE_OTHERS = frozenset(("events", "logs", "peek", "review"))
"""Commands whose answer is not in LLMC's words."""

ROUTED = frozenset(
    (
        *("message", "answer", "peek", "explain", "logs", "events", "comment", "rebase", "review", "reject", "undo"),
        *("interrupt", "restart", "reset", "nuke"),
    )
)
"""Commands that are handed on where their workers are on other machines."""


def given_root(argv: list[str]) -> str | None:
    """Of words that the parser may have refused."""
    for at, word in enumerate(argv):
        if word == "--root" and at + 1 < len(argv):
            return argv[at + 1]
        if word.startswith("--root="):
            return word.removeprefix("--root=")
    return None
