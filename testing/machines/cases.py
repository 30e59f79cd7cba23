"""What goes wrong between a hub and its machines, and the tests that hold each case: none of them may be missing.

A test names its case by a marker: `@pytest.mark.failure_case("the answer is lost")`.
"""

from __future__ import annotations

import ast
from pathlib import Path

from testing.namespace import PROJECT

CASES = (
    "the answer is lost",
    "a cut before a delivery",
    "a cut during a delivery",
    "a cut after a delivery",
    "a cut before an accept",
    "a cut during an accept",
    "a cut after an accept",
    "a cut in one direction",
    "the machine is killed",
    "a half-open connection",
    "a socket of a shared connection that nobody serves",
    "clocks that differ",
    "the hub is killed between the machine's answer and its own fetch",
    "the hub is killed before the machine hears what has landed",
    "two machines accept at once",
    "a machine returns with an old epoch",
    "more sessions than sshd allows",
    "a login shell that prints something",
    "an allocation that ends",
    "an allocation that is cancelled",
)
_MARKER = "pytest.mark.failure_case"


def held(directory: Path = PROJECT / "tests" / "machines") -> dict[str, list[str]]:
    """The tests that hold each case, by reading them: where machines cannot run, too."""
    found: dict[str, list[str]] = {}
    for file in sorted(directory.glob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for case in filter(None, map(_case, node.decorator_list)):
                    found.setdefault(case, []).append(f"{file.name}::{node.name}")
    return found


def _case(decorator: ast.expr) -> str:
    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == _MARKER:
        (words,) = decorator.args
        if isinstance(words, ast.Constant):
            return str(words.value)
    return ""
