"""What becomes of a task when its worker's record is about to name it no longer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from types import MappingProxyType

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.transitions.shared import pending_step
from llmc.core.tasks.task import Failure, Standing
from llmc.model import Json, Work, Worker
from llmc.values import Value


class TaskEnd(Value):
    standing: Standing
    reason: str = ""
    failure: str = ""
    landed_sha: str | None = None
    data: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """For its history."""


def end_of_task(before: Worker, after: Worker | None, event: ev.Event | None) -> TaskEnd | None:
    """None while the worker keeps its task. `after` is None when the worker itself is removed."""
    if not before.task or (after is not None and after.task == before.task):
        return None
    end, said = _end(before, after, event), before.last_words
    return replace(end, data=MappingProxyType({**end.data, "last_words": said})) if said else end


def _end(before: Worker, after: Worker | None, event: ev.Event | None) -> TaskEnd:
    if isinstance(event, ev.WorkMerged | ev.LandedAtHub):
        how = "landed unattended, checks passed" if event.unattended else ""
        data: dict[str, Json] = {"reviewed": event.reviewed, "sha": event.sha, "unattended": event.unattended}
        return TaskEnd(Standing.LANDED, how, landed_sha=event.sha, data=MappingProxyType(data))
    if after is None:
        return TaskEnd(Standing.FAILED, f"its worker {before.name} was removed", Failure.REMOVED)
    if isinstance(event, ev.TextSent | ev.StepFailed):
        return TaskEnd(Standing.FAILED, f"{before.name} did not get it: {event.reason}", Failure.UNDELIVERED)
    if isinstance(event, ev.WorkRestored):
        return TaskEnd(Standing.FAILED, f"`llmc undo` gave {before.name} other work", Failure.RESET)
    why = f"{before.name}: {before.evidence.detail}"
    if isinstance(event, ev.WorktreeReset) and _gives_up(before, event.step):
        return TaskEnd(Standing.FAILED, why, Failure.CRASHED)
    if before.work is Work.ERROR and before.resume_work is Work.IDLE and not isinstance(event, ev.WorktreeReset):
        return TaskEnd(Standing.FAILED, why, Failure.UNDELIVERED)
    return TaskEnd(Standing.FAILED, f"its worker {before.name} was reset", Failure.RESET)


def _gives_up(worker: Worker, step_id: str) -> bool:
    step = pending_step(worker, step_id)
    return step is not None and bool(step.args.get("gives_up"))
