"""What the daemon and the watcher of terminals share: one thread that waits for signals, and eyes on the screens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from selectors import EVENT_READ, DefaultSelector

from llmc.config.sections import Classifier
from llmc.daemon.screens import Screens
from llmc.host.background import Errands
from llmc.host.base import Host
from llmc.host.signals import EndingSignals, ProcessExits
from llmc.host.watch import open_watch
from llmc.observe.readings import Observation, Readings
from llmc.observe.second_opinion import SecondOpinion
from llmc.perform.status_lines import StatusLines
from llmc.root import Root
from llmc.store.status_cache import Complaints, StatusCache
from llmc.values import Value

LOOK_AT_FILES_SECS = 1.0
"""Where nothing tells of changed files, they are looked at so often."""


class Eyes(Value):
    """How screens are looked at, and who hears of it."""

    classifier: Callable[[], Classifier]
    readings: Callable[[SecondOpinion], Readings]
    act: Callable[[list[Observation]], set[str]]
    servers: Callable[[], list[str]]
    """The tmux servers whose status lines show the result."""


class Loop:
    """Whoever owns it asks for the next signals, does what they ask for, and comes back."""

    def __init__(
        self, root: Root, host: Host, complaints: Complaints, errands: Errands, eyes: Eyes, threads: int
    ) -> None:
        self.signals = EndingSignals()
        self.files = open_watch()
        self.cache = StatusCache(root.terminals, complaints)
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="care")
        self._selector = DefaultSelector()
        self.exits = ProcessExits(self._selector)
        self._adviser = SecondOpinion(
            eyes.classifier, root, lambda text: complaints.complain("classifier", text), self.signals.wake
        )
        self.screens = Screens(eyes.readings(self._adviser), self.cache, self.pool, self.signals.wake, eyes.act)
        self.status_lines = StatusLines(host, eyes.servers, errands)

    def begin(self) -> None:
        self._selector.register(self.signals, EVENT_READ, ("signal", 0))
        for watch in (self.files, self.screens.watch):
            if watch.fileno() is not None:
                self._selector.register(watch.fileno() or 0, EVENT_READ, ("files", 0))

    def listen_to(self, fileno: int, kind: str) -> None:
        self._selector.register(fileno, EVENT_READ, (kind, 0))

    def ignore(self, fileno: int) -> None:
        self._selector.unregister(fileno)

    def wait(self, moments: Iterable[float]) -> Iterator[tuple[str, str]]:
        """Until something happens or the first of the moments has come. What happened, by kind, and to whom."""
        now = time.monotonic()
        due = [*moments, *self.screens.moments(), *self.status_lines.moments()]
        if self.files.fileno() is None:
            due.append(now + LOOK_AT_FILES_SECS)
        for key, _ in self._selector.select(max(0.0, min(due) - now)):
            kind, pid = key.data
            yield kind, self.exits.ended(pid) if kind == "exit" else ""
        self.signals.drain()

    def notice_screens(self) -> str:
        """Takes in what was seen and advised since the last round; what went wrong with it, in words."""
        self.screens.notice()
        while self._adviser.answered:
            self.screens.look_at(self._adviser.answered.popleft())
        return self.screens.collect()

    def close(self) -> None:
        self._adviser.close()
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.exits.close()
        self.files.close()
        self.screens.close()
        self._selector.close()
        self.cache.close()
