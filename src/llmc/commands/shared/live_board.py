"""The board as it changes: files and the log tell, nobody looks again and again.

For faces that run on asyncio.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from os import urandom
from typing import Any

from llmc.commands.status import status_document
from llmc.core.board.board import board_of
from llmc.core.board.feed import BoardFeed
from llmc.core.board.shapes import Board, Change
from llmc.errors import LlmcError
from llmc.host.processes import open_end_of
from llmc.host.watch import open_watch
from llmc.root import Root
from llmc.store.event_log import EventLog
from llmc.store.json_values import json_object
from llmc.store.snapshot import read_daemon_pid, remember_files

STATE_FILES = frozenset(("state.json", "landings.json"))
LOG_FILES = ("status.db", "status.db-wal")
LOG = "log"
STATUS_FILES = frozenset(("status.json",))
AT_MOST_EVERY_SECS = 0.2
"""A fleet that moves all the time is drawn no more often than this; what happens alone is told at once."""
AT_LEAST_EVERY_SECS = 10.0
"""The safety net, for what neither a file nor the system tells."""
MOST_EVENTS = 200


class LiveBoard:
    """Of one root, for any number of followers in one event loop."""

    def __init__(self, root: Root) -> None:
        remember_files()
        self.root = root
        self.feed = BoardFeed(urandom(4).hex())
        self.problem: LlmcError | None = None
        """Why the board cannot be read now; the last one that could is kept."""
        self.document: dict[str, Any] = {}
        """Of `llmc status --json`, as it was read last."""
        self._events = EventLog(root.event_log)
        self._last_event = 0
        self._watch = open_watch()
        self._followed: dict[str, int] = {}
        self._log: list[tuple[int, int]] = []
        self._changed: set[str] = set()
        self._due = True
        self._daemon: tuple[int, int] | None = None
        self._news = asyncio.Event()
        self._followers: set[asyncio.Queue[Change | None]] = set()

    @property
    def board(self) -> Board:
        """Raises what keeps it from being read, if nobody ever could."""
        if self.feed.board is None:
            raise self.problem or LlmcError("the board was not read yet", "try again in a moment")
        return self.feed.board

    async def run(self) -> None:
        """Until it is cancelled."""
        loop = asyncio.get_running_loop()
        fd = self._watch.fileno()
        if fd is not None:
            loop.add_reader(fd, self._hear)
        try:
            while True:
                if self._is_due():
                    self._follow_files()
                    self._tell(await asyncio.to_thread(self._read))
                    self._follow_terminals()
                    self._follow_daemon(loop)
                await asyncio.sleep(AT_MOST_EVERY_SECS)
                try:
                    await asyncio.wait_for(self._news.wait(), AT_LEAST_EVERY_SECS if fd is not None else 1.0)
                except TimeoutError:
                    self._due = True
        finally:
            if fd is not None:
                loop.remove_reader(fd)
            self._forget_daemon(loop)
            self._watch.close()

    async def changes(self, last_id: str = "") -> AsyncIterator[Change | Board]:
        """The whole board first, or what was missed since `last_id`; then every change. Who is too slow begins anew."""
        queue: asyncio.Queue[Change | None] = asyncio.Queue(100)
        self._followers.add(queue)
        try:
            missed = self.feed.since(last_id) if last_id else None
            for change in missed if missed is not None else ():
                yield change
            if missed is None:
                yield self.board
            while True:
                news = await queue.get()
                yield self.board if news is None else news
        finally:
            self._followers.discard(queue)

    # --- reading ----------------------------------------------------------------------------------------

    def _read(self) -> Change | None:
        try:
            document = status_document(self.root)
            board, events = board_of(document), self._logged()
        except (LlmcError, OSError, ValueError) as broken:
            known = broken if isinstance(broken, LlmcError) else LlmcError(str(broken), "`llmc doctor` says more")
            self.problem = known
            return None
        self.problem, self.document = None, document
        return self.feed.take(board, events)

    def _logged(self) -> list[dict[str, Any]]:
        """What came since the last time; nothing the first time: the log itself has that."""
        limit = 1 if not self._last_event else MOST_EVENTS
        found = self._events.recent(after_id=self._last_event, limit=limit)
        before, self._last_event = self._last_event, found[-1].id if found else self._last_event
        return [json_object(event) for event in found] if before else []

    def _tell(self, change: Change | None) -> None:
        if change is None:
            return
        for queue in self._followers:
            if queue.full():
                while not queue.empty():
                    queue.get_nowait()
                queue.put_nowait(None)
            else:
                queue.put_nowait(change)

    # --- what tells -------------------------------------------------------------------------------------

    def _follow_files(self) -> None:
        root = self.root
        self._add(root.path, STATE_FILES)
        self._watch.add(root.path, LOG, frozenset(LOG_FILES))
        for path in (root.run, root.inside("run", "attention"), root.checks, root.known_machines):
            self._add(path, frozenset())

    def _follow_terminals(self) -> None:
        """Each worker's own directory. The one above is of use only when one of these is made: a database that is
        written all the time lies there, too."""
        terminals = self.root.terminals
        names = {card["worker"] or "" for card in self.feed.board["cards"].values()} if self.feed.board else set()
        self._watch.add(terminals, terminals, frozenset((*names, ".")))
        added = [self._add(os.path.join(terminals, name), STATUS_FILES) for name in names]
        if any(added):
            self._due = True  # something may have been written there before we looked
            self._news.set()

    def _hear(self) -> None:
        """At once: what is not taken would wake the loop again and again."""
        changed = self._watch.changed()
        self._changed |= changed
        if changed:
            self._news.set()

    def _is_due(self) -> bool:
        self._hear()
        self._news.clear()
        due = self._due or bool(self._changed - {LOG}) or (LOG in self._changed and self._log_has_grown())
        self._changed.clear()
        self._due = False
        return due

    def _log_has_grown(self) -> bool:
        """To read the log is enough to be told that it has changed: SQLite sets the owner of its files, as root."""
        before, self._log = self._log, [_stamp(self.root.inside(name)) for name in LOG_FILES]
        return before != self._log

    def _add(self, path: str, only: frozenset[str]) -> bool:
        """Whether it is new. A directory that was removed and made again is another one."""
        with suppress(OSError):
            number = os.stat(path).st_ino
            if self._followed.get(path) != number and self._watch.add(path, path, only):
                self._followed[path] = number
                return True
        return False

    def _follow_daemon(self, loop: asyncio.AbstractEventLoop) -> None:
        """One that is killed leaves no file behind that would tell."""
        pid = read_daemon_pid(self.root.daemon_lock) or 0
        if (self._daemon[0] if self._daemon else 0) == pid:
            return
        self._forget_daemon(loop)
        ended = open_end_of(pid) if pid else None
        if ended is not None:
            self._daemon = (pid, ended)
            loop.add_reader(ended, self._daemon_ended, loop)

    def _daemon_ended(self, loop: asyncio.AbstractEventLoop) -> None:
        self._forget_daemon(loop)
        self._due = True
        self._news.set()

    def _forget_daemon(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._daemon is not None:
            loop.remove_reader(self._daemon[1])
            os.close(self._daemon[1])
            self._daemon = None


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
