"""What a person may do to a task: hold it, release it, edit it, cancel it, try it again. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType

from llmc.core.tasks.task import Standing, Task, TaskState, TaskView, title_of
from llmc.errors import IllegalEventError
from llmc.values import Value

HELD = "held by you"


class TaskChange(Value):
    """`kind` and `detail` are for its history."""

    kind: str
    detail: str = ""
    fields: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))


def new_task(text: str, at: float, *, title: str = "", hold: bool = False, **fields: object) -> Task:
    standing = {"standing": Standing.HELD, "reason": HELD} if hold else {}
    return Task("", text, title or title_of(text), at, **standing, **fields)  # type: ignore[arg-type]


def hold(view: TaskView) -> TaskChange:
    _require(view, "held", TaskState.QUEUED, TaskState.HELD)
    return TaskChange("held", fields={"standing": Standing.HELD, "reason": HELD})


def release(view: TaskView) -> TaskChange:
    _require(view, "released", TaskState.HELD)
    return TaskChange("released", fields={"standing": Standing.QUEUED, "reason": ""})


def cancel(view: TaskView) -> TaskChange:
    _require(view, "cancelled", TaskState.QUEUED, TaskState.HELD, TaskState.FAILED)
    return TaskChange(
        "cancelled", fields={"standing": Standing.CANCELLED, "reason": "cancelled by you", "given_to": ""}
    )


def edit(view: TaskView, fields: Mapping[str, object]) -> TaskChange:
    _require(view, "edited", TaskState.QUEUED, TaskState.HELD, TaskState.FAILED, TaskState.CANCELLED)
    task = view.task
    if "text" in fields and "title" not in fields and task.title == title_of(task.text):
        fields = {**fields, "title": title_of(str(fields["text"]))}
    changed = {name: value for name, value in fields.items() if getattr(task, name) != value}
    return TaskChange("edited", ", ".join(changed) or "nothing", MappingProxyType(changed))


def retry(view: TaskView, words: str = "") -> TaskChange:
    """By hand: LLMC may then try again by itself as often as at first."""
    _require(view, "tried again", TaskState.FAILED, TaskState.CANCELLED)
    return TaskChange("retried", words or "by you", _again(view.task, words, retried=0))


def retry_unasked(view: TaskView, words: str) -> TaskChange:
    _require(view, "tried again", TaskState.FAILED)
    return TaskChange("retried", view.task.reason, _again(view.task, words, retried=view.task.retried + 1))


def _again(task: Task, words: str, retried: int) -> Mapping[str, object]:
    fresh = {"standing": Standing.QUEUED, "reason": "", "failure": "", "given_to": "", "landed_sha": None}
    return MappingProxyType({**fresh, "more": with_more(task.more, words), "retried": retried})


def with_more(text: str, more: str) -> str:
    return "\n\n".join(part.strip() for part in (text, more) if part.strip())


def _require(view: TaskView, become: str, *states: TaskState) -> None:
    if view.state in states:
        return
    task, worker = view.task.id, view.worker
    hint = f"`llmc task show {task}` tells more"
    if worker:
        look = f"`llmc message {worker} ...` tells it more"
        if view.state is TaskState.REVIEW:
            look = f"`llmc review {worker}` shows it"
        hint = f"{worker} has it: {look}, `llmc reset {worker}` takes it away"
    elif view.state is TaskState.LANDED:
        hint = f"`llmc undo --landing {task}` takes it back, `llmc task add` queues another one"
    elif view.state in (TaskState.FAILED, TaskState.CANCELLED):
        hint = f"`llmc task retry {task}` queues it again"
    elif become == "tried again":
        hint = "it waits already" if view.state is TaskState.QUEUED else f"`llmc task release {task}` lets it go on"
    raise IllegalEventError(f"{task} cannot be {become}: it {_STANDS[view.state].format(worker=worker)}", hint)


_STANDS = {
    TaskState.QUEUED: "is queued",
    TaskState.HELD: "is held",
    TaskState.ASSIGNED: "is at {worker}",
    TaskState.NEEDS_YOU: "is at {worker}, who waits for you",
    TaskState.REVIEW: "waits for your review at {worker}",
    TaskState.LANDING: "is landing",
    TaskState.LANDED: "has landed",
    TaskState.CANCELLED: "was cancelled",
    TaskState.FAILED: "has failed",
}
