"""Who is to be looked after and from when on, who is being looked after now, and what comes of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future

from llmc.care.worker import Cared

RETRY_SECS = 0.1
FAILED_RETRY_SECS = 5.0
"""What cannot be done now is not tried again at once, whatever asks for it."""
ATTENDED_WITHIN_SECS = FAILED_RETRY_SECS + 1.0

Begin = Callable[[str, bool], "Future[Cared]"]
"""Begins to look after a worker, and brings it up if so told."""


class Schedule:
    """All moments are in monotonic time. Only workers that were added are ever looked after."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._due: dict[str, float] = {}
        self._members: set[str] = set()
        self._not_before: dict[str, float] = {}
        """Whom looking after has failed, and until when it waits."""
        self._to_bring_up: set[str] = set()
        self._waiting: set[str] = set()
        """Whose start waits for an answer: it goes on when its screen changes."""
        self._under_way: dict[str, tuple[Future[Cared], bool]] = {}
        """With whether it is to be brought up."""

    def add(self, name: str) -> None:
        self._members.add(name)
        self._to_bring_up.add(name)
        self.soon(name)

    def remove(self, name: str) -> None:
        for names in (self._members, self._to_bring_up, self._waiting):
            names.discard(name)
        for moments in (self._due, self._not_before):
            moments.pop(name, None)

    def soon(self, name: str, after: float = 0.0) -> None:
        if name in self._members:
            at = max(time.monotonic() + after, self._not_before.get(name, 0.0))
            self._due[name] = min(self._due.get(name, at), at)

    def stirred(self, name: str) -> None:
        """Its screen has changed: a start that waits for an answer may go on."""
        if name in self._waiting:
            self._waiting.discard(name)
            self.soon(name)

    def waits(self, name: str) -> bool:
        return name in self._waiting

    def is_attended(self, name: str) -> bool:
        """Somebody is at it, or will be in a moment."""
        soon = time.monotonic() + ATTENDED_WITHIN_SECS
        return name in self._under_way or self._due.get(name, soon + 1) <= soon

    def moments(self) -> Iterable[float]:
        return [at for name, at in self._due.items() if name not in self._under_way]

    def begin_due(self) -> None:
        now = time.monotonic()
        for name in [name for name, at in self._due.items() if at <= now and name not in self._under_way]:
            del self._due[name]
            bring_up = name in self._to_bring_up
            self._to_bring_up.discard(name)
            self._under_way[name] = (self._begin(name, bring_up), bring_up)

    def ended(self) -> list[tuple[str, Cared | BaseException]]:
        """Those whose care is over, with what came of it. Who needs more of it is on the list again."""
        over = [name for name, (care, _) in self._under_way.items() if care.done()]
        return [(name, self._end(name, *self._under_way.pop(name))) for name in over]

    def _end(self, name: str, care: Future[Cared], bring_up: bool) -> Cared | BaseException:
        came = care.exception() or care.result()
        if isinstance(came, BaseException):
            self._not_before[name] = time.monotonic() + FAILED_RETRY_SECS
        if isinstance(came, BaseException) or came is Cared.BUSY:
            if bring_up and name in self._members:
                self._to_bring_up.add(name)
            self.soon(name, RETRY_SECS)
        elif came is Cared.WAITS:
            self._waiting.add(name)
        elif came is Cared.PARTLY:
            self.soon(name)
        return came
