"""What looks are made with, and what they have shown of a root and its machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from llmc.config import Config
from llmc.doctor.answers import Answer, given
from llmc.git.runner import Git
from llmc.host.base import Host
from llmc.root import Root
from llmc.tmux.server import Tmux

P = TypeVar("P")
T = TypeVar("T")

BRANCHES = "llmc/"
SESSIONS = "llmc-"
ProgramVersion = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Health:
    """What each topic has seen, by its type."""

    at_unix: float
    root: Root
    parts: Mapping[type, object]

    def of(self, kind: type[P]) -> P:
        part = self.parts[kind]
        assert isinstance(part, kind)
        return part


@dataclass(frozen=True, slots=True)
class Looking:
    """What looks are made with. Without a root there is nothing to ask git, tmux and the settings for."""

    host: Host
    root: Root
    now: float
    present: Answer[Root]
    versions: Mapping[str, Answer[ProgramVersion]]
    git: Answer[Git]
    tmux: Answer[Tmux]
    config: Answer[Config]

    def ask(self, question: Callable[[Root], Answer[T]]) -> Answer[T]:
        return given(self.present, question)
