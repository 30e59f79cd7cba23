"""What the work asks of the program that hosts it, and how a turn can end."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from enum import StrEnum
from typing import NamedTuple, TypeVar

from llmc.demo.dialog import Answer, Asking
from llmc.demo.shell import Finished


class Tone(StrEnum):
    PLAIN = "plain"
    DIM = "dim"
    BOLD = "bold"
    ERROR = "error"
    BUSY = "busy"


class Tell(NamedTuple):
    """A paragraph for the transcript."""

    text: str
    tone: Tone = Tone.PLAIN


class SpoolReport(NamedTuple):
    """An event for the spool."""

    event: str
    fields: Mapping[str, str | int]


class Pause(NamedTuple):
    """None: until interrupted."""

    seconds: float | None


class GitCall(NamedTuple):
    """Answered with Finished."""

    args: tuple[str, ...]
    env: Mapping[str, str]


class Ask(NamedTuple):
    """Answered with Answer."""

    asking: Asking


class Kill(NamedTuple):
    """A signal to the program itself."""

    number: int


Request = Tell | SpoolReport | Pause | GitCall | Ask | Kill
Reply = Finished | Answer | None


class TurnOver(NamedTuple):
    last_message: str


class FailedTurn(NamedTuple):
    kind: str
    message: str


class Crashed(NamedTuple):
    code: int


Ending = TurnOver | FailedTurn | Crashed

T = TypeVar("T")
Doing = Generator[Request, Reply, T]


def git(*args: str, env: Mapping[str, str] | None = None) -> Doing[Finished]:
    reply = yield GitCall(args, env or {})
    assert isinstance(reply, Finished)
    return reply


def ask(asking: Asking) -> Doing[Answer]:
    reply = yield Ask(asking)
    assert isinstance(reply, Answer)
    return reply
