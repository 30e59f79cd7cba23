"""Asking without being stopped by an answer that does not come."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from llmc.doctor.health import Answer, Found, Unknown
from llmc.errors import LlmcError

B = TypeVar("B")
T = TypeVar("T")


def probe(question: Callable[[], Answer[T]]) -> Answer[T]:
    """The answer; whatever goes wrong while asking makes it unknown, with the reason."""
    try:
        return question()
    except LlmcError as failure:
        return Unknown(failure.what)
    except OSError as failure:
        return Unknown(f"{failure.filename or ''}: {failure.strerror or failure}".removeprefix(": "))
    except Exception as bug:  # a check that is wrong itself must not keep the others from being made
        return Unknown(f"{type(bug).__name__}: {bug}")


def given(base: Answer[B], question: Callable[[B], Answer[T]]) -> Answer[T]:
    """As `probe`, for a question that cannot be asked without the answer to another one."""
    if isinstance(base, Found):
        return probe(lambda: question(base.value))
    return Unknown("what it depends on is not there", covered=True)


def both(first: Answer[B], second: Answer[T]) -> Answer[tuple[B, T]]:
    return given(first, lambda one: given(second, lambda other: Found((one, other))))
