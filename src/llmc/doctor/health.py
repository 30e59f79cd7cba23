"""What looks are made with, and what they have shown of a root and its machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TypeVar

from llmc.config.settings import Config
from llmc.doctor.answers import Answer, Found, given
from llmc.git.runner import Git
from llmc.host.base import Host
from llmc.model import Worker
from llmc.root import Root
from llmc.tmux.server import Tmux
from llmc.values import Value

P = TypeVar("P")
T = TypeVar("T")

BRANCHES = "llmc/"
SESSIONS = "llmc-"
ProgramVersion = tuple[int, int]


class StateFacts(Value):
    workers: Mapping[str, Worker]
    patrol_last_run_unix: float | None = None
    problems: tuple[tuple[str | None, str], ...] = ()
    """What contradicts itself, so that no command takes this state; with the worker whose record it is."""
    future: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """The workers whose record in the file has times to come, with how many seconds ahead."""


class Health(Value):
    """What each topic has seen, by its type."""

    at_unix: float
    root: Root
    parts: Mapping[type, object]

    def of(self, kind: type[P]) -> P:
        part = self.parts[kind]
        assert isinstance(part, kind)
        return part


class Looking(Value):
    """What looks are made with. Without a root there is nothing to ask git, tmux, the settings and the state for."""

    host: Host
    root: Root
    now: float
    present: Answer[Root]
    versions: Mapping[str, Answer[ProgramVersion]]
    git: Answer[Git]
    tmux: Answer[Tmux]
    config: Answer[Config]
    state: Answer[StateFacts]

    @property
    def workers(self) -> Mapping[str, Worker]:
        """None where the state cannot be read."""
        return self.state.value.workers if isinstance(self.state, Found) else {}

    def ask(self, question: Callable[[Root], Answer[T]]) -> Answer[T]:
        return given(self.present, question)
