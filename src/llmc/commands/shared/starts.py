"""Following the start of every worker, for the person who waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from llmc.core.delivery.texts import text_digest
from llmc.core.display import one_line
from llmc.errors import LlmcError
from llmc.host.processes import is_running
from llmc.host.watch import open_watch, wait_for_change
from llmc.model import Session, Worker
from llmc.site import Site
from llmc.store.worker_log import WorkerLog
from llmc.tmux.parsing import Pane

LOOK_EVERY_SECS = 0.5
SETUP_TOLD_EVERY_SECS = 5.0
STILL_FOR_SECS = 30.0
"""Nothing moves any more: who waits for longer waits in vain."""


def wait_for_starts(say: Callable[[str], None], site: Site, pid: int, began: float) -> list[Worker]:
    """Until every worker is up, has failed, or asks something; and no longer than something moves."""
    progress = _Progress(say, began)
    watch = open_watch()
    watch.add(site.root.path, "state", frozenset(("state.json",)))
    try:
        while is_running(pid):
            panes = site.tmux.panes()
            workers = site.ledger.load().workers.values()
            progress.look(workers, panes, _screens(site, panes), _setups(site, workers))
            if progress.is_over:
                break
            wait_for_change(watch, LOOK_EVERY_SECS)
    finally:
        watch.close()
    if not is_running(pid):
        raise LlmcError("the daemon ended at once", f"its log is {site.root.daemon_log}")
    return list(site.ledger.load().workers.values())


def _setups(site: Site, workers: Iterable[Worker]) -> dict[str, tuple[str, str]]:
    """Whose worktree is being set up: which command runs, and what it said last."""
    log = WorkerLog(site.root.setup_logs)
    busy = (worker for worker in workers if worker.session is Session.STARTING and worker.evidence.signal == "setup")
    return {worker.name: (worker.evidence.detail, "".join(log.tail(worker.name, 1))) for worker in busy}


def _screens(site: Site, panes: dict[str, Pane]) -> str:
    live = [pane.id for pane in panes.values() if not pane.dead]
    try:
        return text_digest("\n".join(site.tmux.captures(live)) if live else "")
    except LlmcError:
        return ""  # one of them has ended meanwhile


@dataclass(slots=True)
class _Progress:
    """Tells each worker's news once."""

    say: Callable[[str], None]
    began: float
    told: dict[str, str] = field(default_factory=dict)
    settled: bool = False
    seen: object = None
    said_at: float = 0.0
    """When something was last told of a setup."""
    moved_at: float = field(default_factory=time.monotonic)

    def look(
        self, workers: Iterable[Worker], panes: dict[str, Pane], screens: str, setups: dict[str, tuple[str, str]]
    ) -> None:
        live = {name for name, pane in panes.items() if not pane.dead}
        known = list(workers)
        states = {worker.name: _stands(worker, live, self.began) for worker in known}
        begun = {worker.name for worker in known if worker.session is Session.STARTING and worker.session_id in live}
        for name, words in states.items():
            self._tell(name, words or ("starting" if name in begun else ""))
        for name, (command, said) in setups.items():
            self._tell_setup(name, command, said)
        self.settled = all(words for words in states.values())
        if (states, screens) != self.seen or setups:  # how long a setup may take is bounded elsewhere
            self.seen, self.moved_at = (states, screens), time.monotonic()

    def _tell_setup(self, name: str, command: str, said: str) -> None:
        """Each command when it begins, and from time to time how far it is."""
        words, now = f"setup: {command}", time.monotonic()
        if not self.told.get(name, "").startswith(words):
            self.said_at = now
            self._tell(name, words)
        elif now - self.said_at >= SETUP_TOLD_EVERY_SECS and said != f"$ {command}":
            self.said_at = now
            self._tell(name, f"{words}: {one_line(said, 100)}")

    def _tell(self, name: str, words: str) -> None:
        if words and self.told.get(name) != words:
            self.told[name] = words
            self.say(f"{name}: {words}")

    @property
    def is_over(self) -> bool:
        return self.settled or time.monotonic() - self.moved_at >= STILL_FOR_SECS


def _stands(worker: Worker, live: set[str], began: float) -> str:
    """Where its start has ended, in words; empty while it goes on.

    What the state says of a session may be from before a reboot: the terminal itself must be there.
    """
    is_up = worker.session is Session.UP and worker.session_id in live
    has_failed = worker.session is Session.CRASHED and worker.evidence.at_unix >= began
    return came_of_start(worker) if is_up or has_failed or worker.start_dialog else ""


def came_of_start(worker: Worker) -> str:
    if worker.start_dialog:
        return f"{worker.status}: asks: {one_line(worker.start_dialog, 200)} (`llmc answer {worker.name} ...`)"
    if worker.session is Session.UP:
        return worker.status
    return f"{worker.status}: {one_line(worker.evidence.detail, 200)}"
