"""What was seen of terminals, kept for everybody who looks."""

from __future__ import annotations

import time

from llmc.observe.readings import Observation
from llmc.store.status_cache import StatusCache, news_in


def keep_statuses(cache: StatusCache, seen: list[Observation]) -> None:
    """Only what is new is written: a quiet terminal costs next to nothing."""
    news = [each.status for each in seen if each.before is None or news_in(each.status) != news_in(each.before)]
    moved = frozenset(each.subject.name for each in seen if each.before is None or each.moved)
    if news:
        cache.write(news, moved)
    old = [each.subject.name for each in seen if each.status not in news]
    if old:
        cache.polled(old, time.time())
