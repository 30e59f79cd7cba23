"""A task: what is kept of it, and its state, which is read from the worker that has it.

The worker's record alone says who works on a task. What is kept here is everything else.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum

from llmc.core.display import one_line
from llmc.core.landing.commit_message import first_line
from llmc.core.lifecycle.effects import MergeWork
from llmc.core.lifecycle.transitions.shared import awaits
from llmc.errors import IllegalEventError
from llmc.model import Work, Worker
from llmc.values import Value

LONGEST_TITLE = 100


class TaskState(StrEnum):
    """What users see."""

    QUEUED = "queued"
    HELD = "held"
    ASSIGNED = "assigned"
    NEEDS_YOU = "needs_you"
    REVIEW = "review"
    LANDING = "landing"
    LANDED = "landed"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Standing(StrEnum):
    """What is kept of a task's state: the part that no worker's record tells."""

    QUEUED = "queued"
    HELD = "held"
    LANDED = "landed"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Failure(StrEnum):
    """Why a worker has a task no longer, although nothing of it has landed."""

    UNDELIVERED = "undelivered"
    CRASHED = "crashed"
    RESET = "reset"
    REMOVED = "removed"


class Task(Value):
    id: str
    """`t1`, `t2` and so on."""
    text: str
    title: str
    created_at_unix: float
    priority: int = 0
    after: tuple[str, ...] = ()
    """Tasks whose work must have landed before."""
    worker: str = ""
    """Only this worker may have it."""
    agent: str = ""
    machine: str = ""
    """A label that the worker's machine must have."""
    touches: tuple[str, ...] = ()
    """Patterns of paths that it is expected to change."""
    auto_accept: bool = False
    standing: Standing = Standing.QUEUED
    reason: str = ""
    """Why it is held, was cancelled or has failed."""
    failure: str = ""
    """The kind of that, where LLMC itself may try again."""
    landed_sha: str | None = None
    attempts: int = 0
    """How often it was given to a worker."""
    given_to: str = ""
    """Whose attempt has no end yet; empty when there is none."""
    avoid: str = ""
    """The worker that failed at it, and should not get it again while there are others."""
    retried: int = 0
    """How often LLMC itself has given it again, since a person did."""
    parent: str = ""
    """The task that it was delegated for: what it uses is charged to that one."""
    asked_by: str = ""
    """The worker whose agent has delegated it; empty where a person has asked."""
    request_id: str = ""
    """What the client called its request: asked again, it is the same task."""
    more: str = ""
    """What is added to the text the next time: what happened before, and a person's further words."""
    given_on: str = ""
    """The machine of the worker that it was given to; empty where that is this one."""
    request: str = ""
    """What hub and machine call this attempt, so that it is made once however often it is asked for."""


class TaskView(Value):
    """A task as it stands."""

    task: Task
    state: TaskState
    worker: str = ""
    """Who has it."""
    reason: str = ""


_BY_WORK = {
    Work.NEEDS_INPUT: TaskState.NEEDS_YOU,
    Work.ERROR: TaskState.NEEDS_YOU,
    Work.NEEDS_REVIEW: TaskState.REVIEW,
}


def view_of(task: Task, holder: Worker | None, *, in_train: bool = False) -> TaskView:
    """`holder` is the worker whose record names the task."""
    if holder is not None:
        landing = holder.work is Work.NEEDS_REVIEW and (in_train or awaits(holder, MergeWork))
        state = TaskState.LANDING if landing else _BY_WORK.get(holder.work, TaskState.ASSIGNED)
        return TaskView(task, state, holder.name, holder.evidence.detail)
    if task.given_on and task.given_to:
        return TaskView(task, TaskState.ASSIGNED, task.given_to, f"is given to {task.given_to} on {task.given_on}")
    if is_adrift(task):
        return TaskView(task, TaskState.FAILED, "", f"{task.given_to} had it, and its record names it no longer")
    return TaskView(task, TaskState(task.standing.value), "", task.reason)


def is_adrift(task: Task) -> bool:
    """Whether it was given to a worker and nobody said what came of it; for tasks that no worker's record names."""
    return bool(task.given_to) and not task.given_on and task.standing in (Standing.QUEUED, Standing.HELD)


def require_free(task: Task, named: Collection[str]) -> None:
    """`named`: the tasks that workers' records name."""
    if task.id in named:
        raise IllegalEventError(f"a worker has {task.id} already", f"`llmc task show {task.id}` tells who")
    if task.standing is not Standing.QUEUED or task.given_to:
        raise IllegalEventError(
            f"{task.id} does not wait for a worker: it is {view_of(task, None).state.value}",
            f"`llmc task show {task.id}` tells why; `llmc task retry {task.id}` queues it again",
        )


def title_of(text: str) -> str:
    return one_line(first_line(text), LONGEST_TITLE)


_ID = re.compile(r"t([1-9][0-9]{0,14})")


def number_of(task_id: str) -> int | None:
    """None of what no task can be named: each has one name only, and a number that the database can keep."""
    found = _ID.fullmatch(task_id)
    return int(found[1]) if found is not None else None
