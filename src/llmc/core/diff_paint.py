"""A diff in colours, line by line. Its text was made harmless before, so nobody can hide a line in them."""

from __future__ import annotations

from llmc.core.paint import Paint

MEANING = (("+++", "strong"), ("---", "strong"), ("+", "added"), ("-", "removed"), ("@@", "busy"), ("diff ", "strong"))


def painted_diff(text: str, paint: Paint) -> str:
    return "\n".join(paint(_meaning(line), line) for line in text.split("\n")) if paint.wanted else text


def _meaning(line: str) -> str:
    return next((meaning for start, meaning in MEANING if line.startswith(start)), "")
