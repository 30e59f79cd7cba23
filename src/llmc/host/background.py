"""Small things done on the side, which nobody waits for and none of which may keep anything else from going on."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable

MOST_AT_ONCE = 16
AT_EXIT_SECS = 3.0
"""For what a short command has begun. What takes longer ends with the process."""


class Errands:
    """`complain` hears what went wrong. More than can be done at once is dropped: it would only come late."""

    def __init__(self, complain: Callable[[str], object] = lambda _: None, most: int = MOST_AT_ONCE) -> None:
        self._complain = complain
        self._most = most
        self._under_way: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._at_exit = False

    def run(self, what: str, action: Callable[[], None]) -> bool:
        """False when there is too much under way."""
        thread = threading.Thread(target=self._do, args=(what, action), daemon=True, name=what)
        with self._lock:
            if len(self._under_way) >= self._most:
                return False
            self._under_way.add(thread)
            if not self._at_exit:
                self._at_exit = True
                atexit.register(self.finish, AT_EXIT_SECS)
        thread.start()
        return True

    def finish(self, within: float) -> None:
        """Waits for what is under way; what takes longer ends with the process."""
        until = time.monotonic() + within
        for thread in list(self._under_way):
            thread.join(max(0.0, until - time.monotonic()))

    def _do(self, what: str, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as failure:
            self._complain(f"{what}: {failure}")
        finally:
            with self._lock:
                self._under_way.discard(threading.current_thread())
