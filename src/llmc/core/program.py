"""What an installed program says of itself: its version, and the options that it knows. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType

from llmc.values import Value

_VERSION = re.compile(r"\d+(?:\.\d+)+")
_OPTION_LINE = re.compile(r"^ {0,8}(-{1,2}[A-Za-z].*)$")
_NAMES = re.compile(r"-{1,2}[A-Za-z][\w-]*(?=[\s,=\[<]|$)")
_BETWEEN_NAMES = re.compile(r"^(?:,\s*|\s\|\s)")
FEWEST = 2
"""A page with fewer options than this is no list of them: an error, or something that we cannot read."""


class InstalledProgram(Value):
    """Of a program that did not answer nothing is known: it is taken to know everything."""

    version: str = ""
    options: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    """By sub-command, the program itself being `""`: each option with what the help says of it."""

    def knows(self, option: str, command: str = "") -> bool:
        known = self.options.get(command)
        return known is None or option in known

    def offers(self, option: str, value: str, command: str = "") -> bool:
        """Whether the help names the value among what the option takes. False where nothing is known."""
        about = self.options.get(command, {}).get(option, "")
        return re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", about) is not None


UNASKED = InstalledProgram()


def version_in(words: str) -> str:
    """The first thing in there that looks like a version; empty when nothing does."""
    found = _VERSION.search(words)
    return found[0] if found else ""


def options_in(help_page: str) -> dict[str, str] | None:
    """Each option of a `--help` page with what the page says of it; None for a page that lists none."""
    found: dict[str, str] = {}
    names: tuple[str, ...] = ()
    for line in help_page.splitlines():
        begins = _OPTION_LINE.match(line)
        if begins:
            names = _names_in(begins[1])
        elif line and not line.startswith(" "):
            names = ()  # the next section
        for name in names:
            found[name] = f"{found[name]}\n{line}" if name in found else line
    return found if len(found) >= FEWEST else None


def _names_in(line: str) -> tuple[str, ...]:
    """The names at the beginning: `-a, --ask-for-approval <POLICY>` has two."""
    names, rest = [], line
    while found := _NAMES.match(rest):
        names.append(found[0])
        rest = rest[found.end() :]
        between = _BETWEEN_NAMES.match(rest)
        if between is None:
            break
        rest = rest[between.end() :]
    return tuple(names)
