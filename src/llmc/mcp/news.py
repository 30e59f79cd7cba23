"""News of tasks for everybody who waits: files tell, nobody looks again and again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial

from llmc.host.watch import Watch, open_watch
from llmc.root import Root

Changed = Callable[[float], Awaitable[None]]
"""Returns when something may have changed, or when that many seconds are over."""

AT_MOST_EVERY_SECS = 0.2
WITHOUT_SIGNALS_SECS = 1.0


class TaskNews:
    """One watch for all that wait: the system has few to give."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._waiting: set[asyncio.Event] = set()
        self._watch: Watch | None = None

    @asynccontextmanager
    async def heard(self) -> AsyncIterator[Changed]:
        self._watch = watch = self._watch or self._open()
        news = asyncio.Event()
        self._waiting.add(news)
        try:
            yield partial(_next, news, watch.fileno() is not None)
        finally:
            self._waiting.remove(news)
            if not self._waiting:
                self._close(watch)

    def _open(self) -> Watch:
        watch = open_watch()
        watch.add(self._root.path, self._root.path, frozenset(("state.json",)))
        watch.add(self._root.run, self._root.run, frozenset(("tasks.json", "train.json")))
        fd = watch.fileno()
        if fd is not None:
            asyncio.get_running_loop().add_reader(fd, self._hear, watch)
        return watch

    def _hear(self, watch: Watch) -> None:
        if watch.changed():
            for news in self._waiting:
                news.set()

    def _close(self, watch: Watch) -> None:
        self._watch, fd = None, watch.fileno()
        if fd is not None:
            asyncio.get_running_loop().remove_reader(fd)
        watch.close()


async def _next(news: asyncio.Event, signals: bool, within: float) -> None:
    await asyncio.sleep(min(AT_MOST_EVERY_SECS, max(within, 0.0)))
    with suppress(TimeoutError):
        await asyncio.wait_for(news.wait(), max(0.0, within if signals else min(within, WITHOUT_SIGNALS_SECS)))
    news.clear()
