"""Who is connected: no more than there is room for, and nobody who takes forever to say what they want.

Without this a few hundred connections that say nothing, of anybody who can reach the port, keep everybody else out.
"""

from __future__ import annotations

import asyncio
import os

from uvicorn.protocols.http.h11_impl import H11Protocol

ASKS_WITHIN_SECS = 10.0
MOST_CONNECTIONS = min(1000, os.sysconf("SC_OPEN_MAX") // 2)
"""Commands, terminals and files need their share of what the system lets us open."""


class Connection(H11Protocol):
    """Whoever has not asked for anything yet makes room for those who come later, the longest there first."""

    _silent: dict[H11Protocol, None] = {}  # noqa: RUF012 - of all of them, in the order in which they came

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._silent[self] = None
        self._ends = asyncio.get_running_loop().call_later(ASKS_WITHIN_SECS, self._end_if_silent)
        if len(self.connections) > MOST_CONNECTIONS:
            first = next(iter(self._silent))
            del self._silent[first]  # it is gone only after those who wait to come in by now
            first.transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self not in self.connections or self.cycle is not None:
            self._heard()

    def connection_lost(self, exc: Exception | None) -> None:
        self._heard()
        super().connection_lost(exc)

    def _heard(self) -> None:
        self._silent.pop(self, None)
        self._ends.cancel()

    def _end_if_silent(self) -> None:
        if self in self._silent:
            self.transport.abort()
