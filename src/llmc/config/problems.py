"""What is wrong with a settings file, all of it in one message."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from llmc.core.schema import Key
from llmc.errors import LlmcError
from llmc.values import Value

_MOST_LISTED = 20


class Problem(Value):
    """One thing that is wrong: where, what, and how to put it right."""

    key: Key
    what: str
    advice: str
    line: int | None = None


class ConfigError(LlmcError):
    """The settings file cannot be used. `problems` holds everything that is wrong with it."""

    def __init__(self, path: str, problems: Sequence[Problem]) -> None:
        first, *rest = problems
        super().__init__(f"{_place(path, first)}: {first.what}", "\n".join([first.advice, *_others(path, rest)]))
        self.path = path
        self.problems = tuple(problems)


def _place(path: str, problem: Problem) -> str:
    return path if problem.line is None else f"{path}:{problem.line}"


def _others(path: str, rest: Sequence[Problem]) -> list[str]:
    name = PurePath(path).name
    lines = [f"also {_place(name, problem)}: {problem.what}; {problem.advice}" for problem in rest[:_MOST_LISTED]]
    unlisted = len(rest) - len(lines)
    return [*lines, f"and {unlisted} more"] if unlisted else lines
