"""Keeping tmux's status lines fresh: tmux itself would run our command only every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from threading import Lock

from llmc.host.background import Errands
from llmc.host.base import Host
from llmc.tmux.server import Tmux
from llmc.tmux.statusline import is_installed
from llmc.tmux.windows import refresh_status_lines

AGAIN_SECS = 1.1
"""tmux runs the command once a second at most: what it showed within that second may be old."""


class StatusLines:
    """One thread tells that something moved, another draws."""

    def __init__(self, host: Host, servers: Callable[[], Iterable[str]], errands: Errands) -> None:
        self._host = host
        self._servers = servers
        self._errands = errands
        self._due: list[float] = []
        self._changing = Lock()

    def moved(self) -> None:
        """Some terminal is in another state now."""
        now = time.monotonic()
        with self._changing:
            self._due = [now, now + AGAIN_SECS]

    def moments(self) -> list[float]:
        return self._due

    def when_due(self) -> None:
        now = time.monotonic()
        with self._changing:
            later = [at for at in self._due if at > now]
            is_due, self._due = len(later) < len(self._due), later
        if is_due:
            self._errands.run("the status line", self._refresh)

    def _refresh(self) -> None:
        for server in set(self._servers()):
            tmux = Tmux(self._host, server)
            if is_installed(tmux):
                refresh_status_lines(tmux)
