"""One root with everything that belongs to it: what observing and performing both stand on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from llmc.agents.base import Agent
from llmc.agents.registry import agent_named
from llmc.config import Config
from llmc.git.runner import Git
from llmc.host.base import Host
from llmc.model import Worker
from llmc.root import Root
from llmc.store.ledger import Ledger
from llmc.store.lock import FileLock
from llmc.tmux.server import Tmux

WORKER_LOCK_SECS = 30.0


@dataclass(frozen=True, slots=True)
class Site:
    root: Root
    config: Config
    host: Host
    git: Git
    tmux: Tmux
    ledger: Ledger

    def now(self) -> float:
        return time.time()

    def worker(self, name: str) -> Worker:
        return self.ledger.worker(name)

    def agent_of(self, worker: Worker) -> Agent:
        return agent_named(worker.agent, self.config)

    def lock_of(self, name: str) -> FileLock:
        """Whoever holds it is the one that acts for this worker; it ends with its process."""
        return FileLock(self.root.worker_lock(name), name=f"worker {name}", timeout=WORKER_LOCK_SECS)

    @contextmanager
    def acting_for(self, name: str) -> Iterator[None]:
        with self.lock_of(name):
            yield
