"""The workers of machines as the assignment of tasks sees them."""

from __future__ import annotations

import os
from typing import Any

from llmc.core.lifecycle.effects import RebaseWork, to_step
from llmc.core.lifecycle.signal_words import reason
from llmc.core.tasks.queue import Hand
from llmc.fleet.known import LOST, OK, read_known, workers_told
from llmc.model import Evidence, Reviewed, Work, Worker
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


def holders_elsewhere(root: Root) -> dict[str, Worker]:
    """The workers of machines that have tasks of this root, by the task's id, as far as a task's state needs them."""
    if not os.path.exists(root.machines):
        return {}
    told = workers_told([each for each in read_known(root) if each.get("state") != LOST], set(), 0.0, heeded=True)
    return {each["task"]: _worker(each) for each in told if each["task"]}


def workers_elsewhere(root: Root, taken: set[str]) -> dict[str, Worker]:
    """All of them by the names that they have here. `taken`: those of workers that are here."""
    return {each["name"]: _worker(each) for each in workers_told(read_known(root), taken, 0.0, heeded=True)}


def _worker(told: dict[str, Any]) -> Worker:
    evidence = told.get("evidence") or {}
    why = reason(str(evidence.get("signal") or ""), str(evidence.get("detail") or ""))
    is_rebased = told["work"] == Work.REBASING and not told.get("conflicted_files")  # what conflicts is its agent's
    return Worker(
        told["name"],
        told["worktree_path"],
        told["branch"],
        told["session_id"],
        told["agent"],
        float(told["created_at_unix"]),
        float(told["last_activity_unix"]),
        work=Work(told["work"]),
        task=told["task"] or "",
        base_sha=told.get("base_sha") or "",
        current_prompt=told["current_prompt"] or "",
        pending=(to_step(RebaseWork(""), "there"),) if is_rebased else (),
        reviewed=Reviewed(**told["reviewed"]) if told.get("reviewed") else None,
        evidence=Evidence(str(evidence.get("signal") or ""), float(evidence.get("at_unix") or 0.0), why),
    )


def _hand(worker: dict[str, Any], known: dict[str, Any], labels: frozenset[str], *, room: bool) -> Hand:
    calm = worker.get("turn") != "open" and not worker.get("pending") and not worker.get("asked")
    fit = worker["work"] == "idle" and worker["session"] == "up" and calm
    silent = known.get("state") != OK
    where = f"on {known['name']}, which is {known.get('state')}"
    at = (f"is {where}", f"are {where}") if silent else None
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
