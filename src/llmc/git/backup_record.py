"""How a backup is written down: its name, its message, and who reads them back. Pure."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from llmc.values import Value

NAMESPACE = "refs/llmc/backup/"
_TRAILER = "Llmc-Backup: "
_SHOWN = 20


class Backup(Value):
    """Everything of a worktree that could have been lost, under one ref."""

    ref: str
    sha: str
    worker: str
    at_unix: float
    reason: str
    head_sha: str
    on_branch: str | None
    """What was checked out; None when HEAD was detached, as in the middle of a rebase."""
    branch: str
    """The worker's own branch."""
    branch_sha: str
    dirty: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Repositories inside the worktree, submodules with changes too: git cannot keep their files in another one."""
    has_files: bool = False
    """Whether files, index and unfinished operations are kept too, and not only commits."""
    task: str = ""
    """What the worker was asked to do, as far as that is known."""
    task_id: str = ""


def ref_name(worker: str, at_unix: float, number: int) -> str:
    stamp = datetime.fromtimestamp(at_unix, UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"{NAMESPACE}{worker}/{stamp}-{number}"


def message_of(backup: Backup) -> str:
    """For people who meet the commit in a log, and as one line of JSON for LLMC."""
    record = {
        "worker": backup.worker,
        "at_unix": backup.at_unix,
        "reason": backup.reason,
        "head_sha": backup.head_sha,
        "on_branch": backup.on_branch,
        "branch": backup.branch,
        "branch_sha": backup.branch_sha,
        "dirty": backup.dirty,
        "left_out": backup.left_out,
        "has_files": backup.has_files,
        "task": backup.task,
        "task_id": backup.task_id,
    }
    title = f"LLMC backup of {backup.worker}" + (f": {' '.join(backup.reason.split())}" if backup.reason else "")
    place = f"{backup.on_branch or 'detached HEAD'} at {backup.head_sha[:12]}"
    files = [f"  {json.dumps(path)}" for path in backup.dirty[:_SHOWN]]
    more = [f"  ... and {len(backup.dirty) - _SHOWN} more"] if len(backup.dirty) > _SHOWN else []
    body = [f"{place}, {len(backup.dirty)} uncommitted files", *files, *more]
    return "\n".join([title, "", *body, "", _TRAILER + json.dumps(record), ""])


def read_backup(ref: str, sha: str, message: str) -> Backup | None:
    """None when the commit was not written by LLMC."""
    line = next((line for line in message.split("\n") if line.startswith(_TRAILER)), None)
    if line is None:
        return None
    try:
        return _from_record(ref, sha, json.loads(line.removeprefix(_TRAILER)))
    except (ValueError, KeyError, TypeError):
        return None


def _from_record(ref: str, sha: str, record: dict[str, Any]) -> Backup:
    return Backup(
        ref=ref,
        sha=sha,
        worker=record["worker"],
        at_unix=float(record["at_unix"]),
        reason=record["reason"],
        head_sha=record["head_sha"],
        on_branch=record["on_branch"],
        branch=record["branch"],
        branch_sha=record["branch_sha"],
        dirty=tuple(record["dirty"]),
        left_out=tuple(record["left_out"]),
        has_files=bool(record["has_files"]),
        task=str(record.get("task", "")),
        task_id=str(record.get("task_id", "")),
    )


def expired(backups: tuple[Backup, ...], keep_days: float, keep_count: int, now: float) -> tuple[Backup, ...]:
    """Those older than `keep_days`, except the newest `keep_count` of every worker."""
    by_worker: dict[str, list[Backup]] = {}
    for backup in sorted(backups, key=lambda each: (each.at_unix, each.ref), reverse=True):
        by_worker.setdefault(backup.worker, []).append(backup)
    old = now - keep_days * 86400
    return tuple(each for kept in by_worker.values() for each in kept[keep_count:] if each.at_unix < old)
