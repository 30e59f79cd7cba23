"""Text from agents, repositories and users, made safe to show. Light on imports."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_HARMLESS = "\n\t\u200c\u200d"
"""Lines, tabs, and what joins the parts of one emoji."""


def plain(text: str) -> str:
    """Without anything that a terminal would act upon; lines and tabs stay."""
    if text.isprintable():
        return text
    # A long text has few different characters: these are looked at once each.
    return text.translate({ord(c): _shown(c) for c in set(text) if not c.isprintable() and c not in _HARMLESS})


def _shown(character: str) -> str:
    return " " if character in "\u00a0\u2003\u2009\u202f\u3000" else "\ufffd"


def one_line(text: str, limit: int = 60) -> str:
    """The text in one line, cut to the limit."""
    line = " ".join(plain(text[: limit * 8]).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def fitted(line: str, columns: int | None) -> str:
    """The line with its longest run of one character shortened to fit: rules and padding of a wider terminal.

    One whose words alone are too long stays as it is.
    """
    excess = 0 if columns is None else len(line) - columns
    if excess <= 0:
        return line
    start, length = _longest_run(line)
    return line[:start] + line[start + excess :] if length > excess else line


def _longest_run(line: str) -> tuple[int, int]:
    best, start = (0, 0), 0
    for at in range(1, len(line) + 1):
        if at == len(line) or line[at] != line[start]:
            best = max(best, (start, at - start), key=lambda run: run[1])
            start = at
    return best


def age(seconds: float) -> str:
    seconds = max(0, int(seconds))
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def usage_words(usage: dict[str, Any]) -> str:
    """`1.2M tokens, $0.42 at API prices`."""
    tokens = sum(usage[name] for name in usage if name.endswith("_tokens"))
    usd, priced = usage["usd"], usage["priced"]
    more = " without those that have no price" if priced == "partly" else ""
    return f"{short_number(tokens)} tokens, " + (f"${usd:,.2f} at API prices{more}" if usd is not None else "no price")


def spent_words(usage: dict[str, Any] | None) -> str:
    """Of a worker: on its present task, else in all; empty where nothing is known."""
    if usage is None:
        return ""
    return usage_words(usage["task"]) if usage.get("task") else f"{usage_words(usage)} in all"


def short_number(number: int) -> str:
    """`950`, `12k`, `3.4M`."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= size:
            return f"{number / size:.{1 if number < 10 * size else 0}f}{unit}"
    return str(number)


def some(names: Sequence[str], most: int = 5) -> str:
    """The names, or the first few and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
