"""Answers to the doctor's questions: seen (to work or not), absent, or unknown. A failure stops no other question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any, Generic, TypeVar

from llmc.errors import LlmcError, system_words
from llmc.model import Worker
from llmc.values import Value

T = TypeVar("T", covariant=True)
B = TypeVar("B")
D = TypeVar("D")


class Found(Value, Generic[T]):
    value: T


class Broken(Value):
    """It is there and cannot be used."""

    what: str
    hint: str = ""


class Newer(Broken):
    """It was made by a version that knows more than this one."""


class Absent(Value):
    """It is not there, for sure."""


class Unknown(Value):
    """The question was not answered. `covered`: by reason of something that has a finding of its own."""

    why: str
    covered: bool = False


Answer = Found[T] | Broken | Absent | Unknown


def known(answer: Answer[B], otherwise: D) -> B | D:
    return answer.value if isinstance(answer, Found) else otherwise


def there(value: B | None) -> Answer[B]:
    return Absent() if value is None else Found(value)


def probe(question: Callable[[], Answer[B]]) -> Answer[B]:
    """The answer; whatever goes wrong while asking makes it unknown, with the reason."""
    try:
        return question()
    except LlmcError as failure:
        return Unknown(failure.what)
    except OSError as failure:
        return Unknown(system_words(failure))
    except Exception as bug:  # a check that is wrong itself must not keep the others from being made
        return Unknown(f"{type(bug).__name__}: {bug}")


def given(base: Answer[B], question: Callable[[B], Answer[D]]) -> Answer[D]:
    """As `probe`, for a question that cannot be asked without the answer to another one."""
    if isinstance(base, Found):
        return probe(lambda: question(base.value))
    return Unknown("what it depends on is not there", covered=True)


def both(first: Answer[B], second: Answer[D]) -> Answer[tuple[B, D]]:
    return given(first, lambda one: given(second, lambda other: Found((one, other))))


# --- what was not answered ------------------------------------------------------------------------


def question(topic: str, words: str, *, required: bool = False) -> Mapping[str, Any]:
    """The metadata of a field that holds an answer: the words for it, and whether nothing is well without it."""
    return {"gap": (topic, words, required)}


class OfWorker(Value):
    """Answers about one worker."""

    worker: Worker


class Gap(Value):
    topic: str
    words: str
    required: bool
    why: str
    covered: bool


def gaps_in(part: Any, of: str = "") -> Iterator[Gap]:  # noqa: ANN401
    """What could not be answered in a dataclass of answers, and in those about single workers within it."""
    for each in fields(part):
        answer = getattr(part, each.name)
        if isinstance(answer, Unknown):
            topic, words, required = each.metadata["gap"]
            yield Gap(topic, of + words, required, answer.why, answer.covered)
        for inner in known(answer, ()) if each.name == "of_workers" else ():
            yield from gaps_in(inner, f"{inner.worker.name}: ")
