"""Which worker gets the next task, and whose work is looked at next."""

from __future__ import annotations

from collections.abc import Iterable

from llmc.model import Session, Turn, Work, Worker


def is_free(worker: Worker) -> bool:
    calm = worker.turn is not Turn.OPEN and not worker.pending
    return worker.work is Work.IDLE and worker.session is Session.UP and calm


def next_free(workers: Iterable[Worker], excluded: frozenset[str]) -> Worker | None:
    """The worker that has been idle for longest, leaving out those that only take work by name."""
    free = [w for w in workers if is_free(w) and w.name not in excluded]
    return min(free, key=lambda w: (w.last_activity_unix, w.name), default=None)


def next_to_review(workers: Iterable[Worker]) -> Worker | None:
    """The work that has waited for longest."""
    waiting = [w for w in workers if w.work is Work.NEEDS_REVIEW]
    return min(waiting, key=lambda w: (w.evidence.at_unix, w.name), default=None)
