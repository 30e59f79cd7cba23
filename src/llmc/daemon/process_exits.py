"""Knowing at once when an agent's process ends."""

from __future__ import annotations

import os
from collections.abc import Mapping
from selectors import EVENT_READ, BaseSelector


class ProcessExits:
    """A file per process that becomes readable when the process ends. Linux; elsewhere the patrol sees it."""

    def __init__(self, selector: BaseSelector) -> None:
        self._selector = selector
        self._watched: dict[int, tuple[int, str]] = {}

    def follow(self, pids: Mapping[int, str]) -> list[str]:
        """Follows exactly these processes, each with the worker it belongs to. Whose has ended already is told."""
        if not hasattr(os, "pidfd_open"):
            return []
        missed = []
        for pid in self._watched.keys() - pids.keys():
            self._forget(pid)
        for pid in pids.keys() - self._watched.keys():
            try:
                fd = os.pidfd_open(pid)
            except OSError:
                missed.append(pids[pid])
                continue
            self._watched[pid] = (fd, pids[pid])
            self._selector.register(fd, EVENT_READ, ("exit", pid))
        return missed

    def ended(self, pid: int) -> str:
        """The worker whose process this was."""
        worker = self._watched[pid][1]
        self._forget(pid)
        return worker

    def _forget(self, pid: int) -> None:
        fd, _ = self._watched.pop(pid)
        self._selector.unregister(fd)
        os.close(fd)

    def close(self) -> None:
        for pid in list(self._watched):
            self._forget(pid)
