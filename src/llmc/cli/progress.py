"""One line at the terminal that says what takes its time. Nothing for what is over within a second."""

from __future__ import annotations

import sys
import threading
import time

from llmc.core.display import one_line
from llmc.host import terminal_columns

AFTER_SECS = 1.0
EVERY_SECS = 0.5


class ProgressLine:
    """On standard error, and only where a person looks at it; gone before anything else is written."""

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted and sys.stderr.isatty()
        self._words = ""
        self._since = 0.0
        self._drawn = False
        self._turn = threading.Lock()
        self._drawer: threading.Thread | None = None

    def say(self, words: str) -> None:
        """From now on; the time goes on from the first words after the last time that all was done."""
        if not self._wanted:
            return
        with self._turn:
            self._since = self._since if self._words else time.monotonic()
            self._words = words
        if self._drawer is None:
            self._drawer = threading.Thread(target=self._draw, name="progress", daemon=True)
            self._drawer.start()

    def clear(self) -> None:
        with self._turn:
            self._words = ""
            if self._drawn:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
                self._drawn = False

    def _draw(self) -> None:
        while True:
            time.sleep(EVERY_SECS)
            with self._turn:
                lasts = time.monotonic() - self._since
                if self._words and lasts >= AFTER_SECS:
                    room = (terminal_columns() or 80) - 1
                    sys.stderr.write(f"\r\x1b[K{one_line(f'{lasts:.0f}s {self._words}', room)}")
                    sys.stderr.flush()
                    self._drawn = True
