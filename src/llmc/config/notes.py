"""What is wrong in a settings file, in words: where, what stands there, what has to, and how to put it right."""

from __future__ import annotations

from llmc.config.keys import dotted
from llmc.config.problems import Problem
from llmc.config.suggest import advice_for
from llmc.config.value_types import found
from llmc.core.schema import Key, Misfit, MissingKey, UnknownKey, WrongValue


class Notes:
    """What is wrong with one file."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def note(self, key: Key, what: str, advice: str) -> None:
        self.problems.append(Problem(key, what, advice))

    def fine(self, *key: str | int) -> bool:
        """Nothing was wrong with the key, nor with anything inside it."""
        return not any(problem.key[: len(key)] == key for problem in self.problems)

    def misfit(self, misfit: Misfit) -> None:
        key = misfit.key
        match misfit:
            case UnknownKey(value=value, known=known):
                what = "table" if isinstance(value, dict) else "key"
                self.note(key, f"unknown {what} `{dotted(key)}`", advice_for(key, known))
            case MissingKey(wanted=wanted):
                place = f"under `[{dotted(key[:-1])}]`" if isinstance(key[-2], str) else f"to `{dotted(key[:-1])}`"
                self.note(key, f"`{dotted(key)}` is missing", f"add `{key[-1]} = {wanted.example}` {place}")
            case WrongValue(value=value, wanted=wanted):
                example = f"for example `{key[-1]} = {wanted.example}`"
                advice = example if wanted.example else f"write it as `[{dotted(key)}]`"
                self.note(key, f"`{dotted(key)}` is {found(value)}, but must be {wanted.expects}", advice)
