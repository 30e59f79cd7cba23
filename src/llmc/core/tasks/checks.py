"""What the repository's own checks say of a tree: kept by tree and command, for a tree never changes."""

from __future__ import annotations

from llmc.values import Value

BEGINNING_KEPT = 4 << 10
END_KEPT = 12 << 10


class CheckResult(Value):
    """One command of `[repo] validate`, run on one tree."""

    tree: str
    command: str
    passed: bool
    output: str
    """Its beginning and its end, if it is long."""
    secs: float
    at_unix: float
    problem: str = ""
    """Why it did not pass, in words: `failed with exit code 2`."""


class TreeVerdict(Value):
    """What all checks say; those after the first that failed were not run."""

    tree: str
    results: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        return self.failed is None

    @property
    def failed(self) -> CheckResult | None:
        return next((each for each in self.results if not each.passed), None)

    @property
    def at_unix(self) -> float:
        return max((each.at_unix for each in self.results), default=0.0)


def shortened(said: str) -> str:
    """The beginning and the end of what a command said."""
    left_out = len(said) - BEGINNING_KEPT - END_KEPT
    if left_out <= 0:
        return said
    return f"{said[:BEGINNING_KEPT]}\n(... {left_out} characters were left out ...)\n{said[-END_KEPT:]}"


def verdict_of(tree: str, commands: tuple[str, ...], known: dict[str, CheckResult]) -> TreeVerdict | None:
    """None while nobody knows: all must have passed, or one failed after others that have passed."""
    results: list[CheckResult] = []
    for command in commands:
        result = known.get(command)
        if result is None:
            return None
        results.append(result)
        if not result.passed:
            break
    return TreeVerdict(tree, tuple(results))
