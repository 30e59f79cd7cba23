"""The composition root: which root, and everything that stands on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from llmc.config.load import load_config
from llmc.core.paint import Paint
from llmc.git.clone import ensure_view
from llmc.git.runner import Git
from llmc.host.base import Host
from llmc.host.local import LocalHost
from llmc.root import Root
from llmc.roots import find_root
from llmc.site import Site
from llmc.store.event_log import EventLog
from llmc.store.ledger import Ledger
from llmc.store.state_file import StateFile
from llmc.store.tasks import TaskStore
from llmc.store.worker_log import WorkerLog
from llmc.tmux.server import Tmux
from llmc.values import Value


class Console(Protocol):
    """The person at the other end, or the script."""

    def say(self, text: str) -> None:
        """Something for the person, at once; scripts that asked for JSON do not get it."""

    def progress(self, words: str) -> None:
        """What is being done, for whoever waits for it; gone with the next thing that is said."""

    def print(self, text: str) -> None:
        """A part of the answer itself, at once."""

    def show(self, text: str) -> None:
        """A whole screen in place of the last one, where the terminal can do that; harmless, and perhaps coloured."""

    def ring(self) -> None:
        """The bell of the person's terminal."""

    def confirm(self, question: str) -> bool:
        """Whether the person agrees. False when there is nobody to ask."""

    def agrees(self, question: str) -> bool:
        """The same, of what nobody can have agreed to before: a `--yes` does not mean it."""

    def choose(self, question: str, options: Sequence[str], usual: int) -> int | None:
        """Which of the options the person wants; `usual` on a mere Enter or where they agreed to everything before.

        None when they want none of them, or when there is nobody to ask.
        """

    @property
    def can_ask(self) -> bool:
        """Whether somebody is there to answer, or has agreed to everything before."""

    @property
    def is_terminal(self) -> bool: ...

    @property
    def paint(self) -> Paint:
        """Colours where the terminal wants them."""

    @property
    def columns(self) -> int | None:
        """How many fit into a line; None where that is not known, or it is no terminal."""


class App(Value):
    given_root: str | None
    environ: Mapping[str, str]
    cwd: str
    console: Console

    def root(self) -> Root:
        return find_root(self.given_root, self.environ, self.cwd)

    def site(self) -> Site:
        return replace(open_site(self.root()), progress=self.console.progress)

    def host(self) -> Host:
        return LocalHost()


def open_site(root: Root) -> Site:
    host = LocalHost()
    config = load_config(root.config_file)
    ledger = Ledger(
        StateFile(root.path),
        EventLog(root.event_log),
        WorkerLog(root.logs, max_bytes=config.log.max_bytes, keep=config.log.keep),
        config.policy_for,
        TaskStore(root.tasks, root.tasks_mark),
    )
    git = Git(host)
    ensure_view(git, config.repo.source, root.path, config.repo.branch)
    return Site(root, config, host, git, Tmux(host, root.tmux_socket, root.tmux_turns), ledger)
