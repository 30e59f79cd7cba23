"""Something that the daemon does again and again beside everything else, and never in its way."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from llmc.errors import LlmcError

T = TypeVar("T")


class SideJob(Generic[T]):
    """One run at a time, in a thread of its own, from the beginning on; `wake` is called when one is over."""

    def __init__(self, name: str, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._due: float | None = 0.0
        self._under_way: Future[T] | None = None

    def soon(self, after: float = 0.0) -> None:
        at = time.monotonic() + after
        self._due = at if self._due is None else min(at, self._due)

    def moments(self) -> list[float]:
        """When there is something to do, in monotonic time."""
        return [] if self._due is None or self._under_way is not None else [self._due]

    def begin(self, run: Callable[[], T]) -> bool:
        """If it is time, and whether it was."""
        if self._under_way is not None or self._due is None or time.monotonic() < self._due:
            return False
        self._due = None
        self._under_way = self._pool.submit(run)
        self._under_way.add_done_callback(lambda _: self._wake())
        return True

    def collect(self) -> T | LlmcError | OSError | None:
        """What came of the run that is over, if one is."""
        if self._under_way is None or not self._under_way.done():
            return None
        done, self._under_way = self._under_way, None
        failure = done.exception()
        if failure is None or isinstance(failure, LlmcError | OSError):
            return failure or done.result()
        raise failure

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
