"""What went wrong for others before us, and the tests that keep it from happening here.

A test names what it holds by a marker: `@pytest.mark.lesson(8, "Escape only to refuse what a dialog asks")`.
The files are only read, never imported: this takes a moment, wherever the tests could run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
LESSONS = range(1, 61)


@dataclass(frozen=True, slots=True, order=True)
class Holding:
    """One test that holds one lesson."""

    number: int
    file: str
    line: int
    test: str
    words: str


def holdings(project: Path = PROJECT) -> list[Holding]:
    files = sorted(project.glob("tests/**/test_*.py"))
    return sorted(holding for file in files for holding in _in_file(file, file.relative_to(project).as_posix()))


def _in_file(file: Path, name: str) -> Iterator[Holding]:
    text = file.read_text("utf-8")
    if "mark.lesson" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            for number, words in map(_lesson, node.decorator_list):
                if number:
                    yield Holding(number, name, node.lineno, node.name, words)


def _lesson(decorator: ast.expr) -> tuple[int, str]:
    """Number and words; 0 for any other decorator."""
    if not isinstance(decorator, ast.Call) or ast.unparse(decorator.func) != "pytest.mark.lesson":
        return 0, ""
    number, words = (ast.literal_eval(argument) for argument in decorator.args)
    return number, words


def page() -> str:
    """The lessons for docs/lessons.md, each with its tests."""
    return "\n\n".join(_section(list(group)) for _, group in groupby(holdings(), lambda holding: holding.number))


def _section(held: list[Holding]) -> str:
    lines = [f"**{held[0].number}. {held[0].words[:1].upper()}{held[0].words[1:]}.**", ""]
    for file, group in groupby(held, lambda holding: holding.file):
        tests = ", ".join(holding.test.removeprefix("test_").replace("_", " ") for holding in group)
        lines.append(f"- [`{file}`](../{file}): {tests}")
    return "\n".join(lines)
