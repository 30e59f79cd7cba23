"""A person who is attached to a tmux session: a real client on a terminal of its own."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fcntl import ioctl
from struct import pack
from termios import TIOCSWINSZ
from types import TracebackType
from typing import Self

DETACH = b"\x02d"
"""tmux's prefix, and its key for leaving."""
TRIES = 10


class Person:
    """Ends with the context, as if the terminal's window were closed."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], *, columns: int = 80, rows: int = 24) -> None:
        self._keyboard, terminal = pty.openpty()
        ioctl(terminal, TIOCSWINSZ, pack("HHHH", rows, columns, 0, 0))
        self._client = subprocess.Popen(
            argv,
            env={**env, "TERM": "xterm-256color"},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
        os.close(terminal)
        self.shown = bytearray()
        """All that was written to the terminal so far."""
        self._reader = threading.Thread(target=self._read, name="attached person", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        """A client that nobody reads would hold up the whole server."""
        with suppress(OSError):
            while said := os.read(self._keyboard, 65536):
                self.shown += said

    def types(self, keys: str | bytes) -> None:
        os.write(self._keyboard, keys.encode() if isinstance(keys, str) else keys)

    def leaves(self, keys: str | bytes = DETACH) -> None:
        """As people do: tmux drops what is typed while its client takes the terminal over, and they type it again."""
        for _ in range(TRIES):
            self.types(keys)
            with suppress(subprocess.TimeoutExpired):
                self._client.wait(timeout=2)
                return
        self.ends()

    def ends(self) -> None:
        """What they did made their client end."""
        self._client.wait(timeout=120)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._client.pid, signal.SIGTERM)  # it may have been started by way of another program
        self._client.wait(timeout=120)
        self._reader.join(timeout=120)
        os.close(self._keyboard)
