"""The names that users give: what a worker may be called, how to show one that is not right, what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable

from llmc.errors import InvalidUsageError

LONGEST_NAME = 40

_GOOD_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
_ALLOWED = re.compile(r"[A-Za-z0-9_-]")
_REFUSED_IN_BRANCH = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/.]|/\.|[/.]$|\.lock(?:/|$)|^@$|^HEAD$|[\ud800-\udfff]"
)
_RESERVED = {
    "all": "`all` is reserved, because it reads as every worker",
    "-": "`-` is reserved, because it stands for standard input",
}
_TELLING = (
    ("..", "git refuses `..` in a branch name"),
    ("/", "`/` would make it a path"),
    (" ", "it contains a space"),
)


def check_worker_name(name: str) -> None:
    """The name becomes a directory, a git branch and a tmux session, so it must be safe as all three."""
    problem = _RESERVED.get(name.lower()) or name_problem(name)
    if problem:
        raise unfit_name("a worker's", name, problem, ", such as `adam` or `api-2`")


def unfit_name(whose: str, name: str, problem: str, such_as: str = "") -> InvalidUsageError:
    hint = f"use 1 to {LONGEST_NAME} letters, digits, `-` or `_`, beginning with a letter{such_as}"
    return InvalidUsageError(f"`{shown(name)}` cannot be {whose} name: {problem}", hint)


def name_problem(name: str) -> str | None:
    """What keeps this from being a plain name: the reason, or None when it is one."""
    if not name:
        return "it is empty"
    if len(name) > LONGEST_NAME:
        return f"it has {len(name)} characters, and {LONGEST_NAME} are the most"
    if name.endswith(".lock"):
        return "git refuses branch names that end in `.lock`"
    return None if _GOOD_NAME.match(name) else _wrong_character(name)


def _wrong_character(name: str) -> str:
    for part, reason in _TELLING:
        if part in name:
            return reason
    wrong = next((character for character in name if not _ALLOWED.match(character)), None)
    if wrong is None:
        return "it does not begin with a letter"
    kind = "the character" if wrong.isprintable() else "the control character"
    return f"it contains {kind} `{shown(wrong)}`"


def is_branch_name(name: str) -> bool:
    """Whether git takes this as the name of a branch."""
    return bool(name) and not _REFUSED_IN_BRANCH.search(name)


def shown(text: str, limit: int = LONGEST_NAME) -> str:
    """Text from outside, made safe for a message: no control characters, and never long."""
    escaped = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: limit + 1])
    return escaped if len(escaped) <= limit else escaped[: limit - 3] + "..."


def nearest_word(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    # Only needed when something is wrong already, and reading the settings has to be quick.
    from difflib import get_close_matches

    return next(iter(get_close_matches(word[:100], list(known), 1, likeness)), None)
