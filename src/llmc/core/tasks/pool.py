"""Which worker gets the next task, and whose work is looked at next."""

from __future__ import annotations

from collections.abc import Iterable

from llmc.model import Session, Turn, Work, Worker


def is_free(worker: Worker) -> bool:
    calm = worker.turn is not Turn.OPEN and not worker.pending
    return worker.work is Work.IDLE and worker.session is Session.UP and calm


def next_free(workers: Iterable[Worker], excluded: frozenset[str]) -> Worker | None:
    """The longest idle worker, leaving out those that only take work by name."""
    free = [w for w in workers if is_free(w) and w.name not in excluded]
    return min(free, key=lambda w: (w.last_activity_unix, w.name), default=None)


def how_to_free(workers: Iterable[Worker], excluded: frozenset[str]) -> str:
    """What to do when nobody is free: the nearest way first."""
    asked = [w for w in workers if w.name not in excluded]
    if not asked:
        return "make a worker with `llmc add NAME`"
    if down := [w.name for w in asked if w.status == "offline" and w.work is Work.IDLE]:
        return f"`llmc up --detach` brings {' and '.join(down[:3])} up"
    if waiting := next_to_review(asked):
        return f"`llmc review {waiting.name}` shows work that waits; once accepted, {waiting.name} is free"
    return "`llmc status` tells what they are at; `llmc add NAME` makes another worker"


def next_to_review(workers: Iterable[Worker]) -> Worker | None:
    """The work that has waited for longest."""
    waiting = [w for w in workers if w.work is Work.NEEDS_REVIEW]
    return min(waiting, key=lambda w: (w.evidence.at_unix, w.name), default=None)
