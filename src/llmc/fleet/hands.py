"""The workers of machines as the assignment of tasks sees them."""

from __future__ import annotations

import os
from typing import Any

from llmc.core.tasks.queue import Hand
from llmc.fleet.known import OK, read_known, workers_told
from llmc.root import Root

_AT = {
    "needs_review": ("waits for review", "wait for review"),
    "needs_input": ("asks", "ask"),
    "error": ("has failed", "have failed"),
    "idle": ("is not running", "are not running"),
}


def hands_elsewhere(root: Root) -> list[Hand]:
    """As their machines have told them. Nobody is free on a machine whose slots are taken, or that is silent."""
    if not os.path.exists(root.machines):
        return []
    found = []
    for known in read_known(root):
        workers = workers_told([known], set(), 0.0, heeded=True)
        busy = sum(worker["work"] not in ("idle", "error") for worker in workers)
        room = known.get("state") == OK and busy < int(known.get("slots") or 0)
        labels = frozenset((known["name"], *(known.get("labels") or ())))
        found += [_hand(worker, known, labels, room=room) for worker in workers]
    return found


def _hand(worker: dict[str, Any], known: dict[str, Any], labels: frozenset[str], *, room: bool) -> Hand:
    calm = worker.get("turn") != "open" and not worker.get("pending") and not worker.get("asked")
    fit = worker["work"] == "idle" and worker["session"] == "up" and calm
    silent = known.get("state") != OK
    at = (f"is on {known['name']}, which is {known.get('state')}", f"are on {known['name']}") if silent else None
    full = (f"is on {known['name']}, whose slots are taken", f"are on {known['name']}, whose slots are taken")
    return Hand(
        worker["name"],
        worker["agent"],
        free=fit and room,
        present=worker["session"] in ("up", "starting") and worker["work"] != "error" and not silent,
        by_name_only=bool(worker.get("by_name_only")),
        idle_since_unix=float(worker.get("last_activity_unix") or 0.0),
        labels=labels,
        at=at or (full if fit else _AT.get(str(worker["work"]), ("works", "work"))),
    )
