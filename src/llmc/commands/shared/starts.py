"""Following the start of every worker, for the person who waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import field

from llmc.core.delivery.texts import text_digest
from llmc.core.display import one_line
from llmc.errors import LlmcError
from llmc.host.processes import is_running
from llmc.host.watch import open_watch, wait_for_change
from llmc.model import Session, Worker
from llmc.site import Site
from llmc.tmux.parsing import Pane
from llmc.values import dataclass

LOOK_EVERY_SECS = 0.5
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
            progress.look(site.ledger.load().workers.values(), panes, _screens(site, panes))
            if progress.is_over:
                break
            wait_for_change(watch, LOOK_EVERY_SECS)
    finally:
        watch.close()
    if not is_running(pid):
        raise LlmcError("the daemon ended at once", f"its words are in {site.root.daemon_log}")
    return list(site.ledger.load().workers.values())


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
    moved_at: float = field(default_factory=time.monotonic)

    def look(self, workers: Iterable[Worker], panes: dict[str, Pane], screens: str) -> None:
        live = {name for name, pane in panes.items() if not pane.dead}
        known = list(workers)
        states = {worker.name: _stands(worker, live, self.began) for worker in known}
        begun = {worker.name for worker in known if worker.session is Session.STARTING and worker.session_id in live}
        for name, words in states.items():
            self._tell(name, words or ("starting" if name in begun else ""))
        self.settled = all(words for words in states.values())
        if (states, screens) != self.seen:
            self.seen, self.moved_at = (states, screens), time.monotonic()

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
