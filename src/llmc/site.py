"""One root with everything that belongs to it: what observing and performing both stand on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import field
from threading import Event

from llmc.config.settings import Config
from llmc.git.runner import Git
from llmc.host.base import Host
from llmc.host.locks import FileLock
from llmc.host.processes import exists, is_running, remind_of_children
from llmc.model import Worker
from llmc.root import Root
from llmc.store.ledger import Ledger
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux, TmuxError
from llmc.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from llmc.agents.base import Agent
    from llmc.agents.transcripts import Whereabouts
    from llmc.store.usage import UsageStore

WORKER_LOCK_SECS = 30.0
REAPED_WITHIN_SECS = 1.0
LOOK_EVERY_SECS = 0.02


class Site(Value):
    root: Root
    config: Config
    host: Host
    git: Git
    tmux: Tmux
    ledger: Ledger
    progress: Callable[[str], None] = field(default=lambda words: None)
    """Told what is being done, for a person who waits for it."""
    leaving: Event = field(default_factory=Event)
    """Set when whoever acts here is about to end: what may take minutes is left to the next one."""

    def now(self) -> float:
        return time.time()

    def worker(self, name: str) -> Worker:
        return self.ledger.worker(name)

    @property
    def usage(self) -> UsageStore:
        from llmc.store.usage import usage_store  # most commands count nothing

        return usage_store(self.root.usage)

    def agent_named(self, name: str) -> Agent:
        from llmc.agents.registry import agent_named  # slow to load, and what only concerns git needs no agent

        return agent_named(name, self.config, self.root.packs)

    def agent_of(self, worker: Worker) -> Agent:
        return self.agent_named(worker.agent)

    def is_fenced(self, name: str) -> bool:
        return self.config.worker(name).sandbox == "bwrap"

    def home_of(self, name: str) -> str:
        """The home of the worker's agent: the person's, or in a fence one of its own."""
        return self.root.fence_home(name) if self.is_fenced(name) else self.host.environ().get("HOME", "")

    def whereabouts_of(self, worker: Worker) -> Whereabouts:
        """Where its agent keeps what it writes down."""
        from llmc.agents.transcripts import Whereabouts

        settings, fenced = self.root.settings_dir(worker.name), self.is_fenced(worker.name)
        environ = {} if fenced else self.host.environ()  # a fence keeps the person's variables out
        own = {**self.config.repo.env, **self.config.agent(worker.agent).env}
        variables = {**environ, **{name: text.replace("{settings}", settings) for name, text in own.items()}}
        return Whereabouts(self.home_of(worker.name), worker.worktree_path, settings, variables)

    def lock_of(self, name: str) -> FileLock:
        """Whoever holds it is the one that acts for this worker; it ends with its process."""
        return FileLock(self.root.worker_lock(name), name=f"worker {name}", timeout=WORKER_LOCK_SECS)

    def panes(self) -> dict[str, Pane]:
        """Every session's pane, with the exit status of those whose process has ended."""
        return self._explained(self.tmux.panes)

    def pane_of(self, session: str) -> Pane | None:
        """The same of one session alone: a fraction of the work where there are many."""

        def ask() -> dict[str, Pane]:
            pane = self.tmux.pane_of(session)
            return {} if pane is None else {session: pane}

        return self._explained(ask).get(session)

    def _explained(self, ask: Callable[[], dict[str, Pane]]) -> dict[str, Pane]:
        """tmux 3.3a misses the end of its children now and then; told again, it learns of it."""
        try:
            panes = ask()
            until = time.monotonic() + REAPED_WITHIN_SECS
            while (missed := _unexplained(panes)) and time.monotonic() < until:
                remind_of_children(missed[0].server_pid)
                time.sleep(LOOK_EVERY_SECS)
                panes = ask()
            # It may have been reaped between that answer and our look at the process: then tmux knows by now.
            return ask() if any(_tells_nothing(pane) for pane in panes.values()) else panes
        except TmuxError:
            self.tmux.require_version()  # what an old tmux says is often not understood
            raise


def local_offset(at: float) -> float:
    """How many seconds the clock of this machine is ahead of UTC at that time."""
    return float(time.localtime(at).tm_gmtoff)


def _unexplained(panes: dict[str, Pane]) -> list[Pane]:
    """Those whose end tmux has yet to learn of, or how it came."""
    return [pane for pane in panes.values() if (_unreaped(pane) if pane.dead else not is_running(pane.pid))]


def _tells_nothing(pane: Pane) -> bool:
    return pane.dead and pane.exit_code is None and pane.exit_signal is None


def _unreaped(pane: Pane) -> bool:
    # One that is gone for good: an old tmux may have nothing to tell about it.
    return _tells_nothing(pane) and exists(pane.pid)
