"""Tasks as commands show them: as text, and as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from llmc.care.queue import next_assignment
from llmc.commands.shared.result import Result
from llmc.core.display import counted, one_line
from llmc.core.tasks.task import Standing, Task, TaskState, TaskView, view_of
from llmc.fleet.hands import hands_elsewhere, holders_elsewhere
from llmc.site import Site
from llmc.store.ledger import holders_of
from llmc.store.snapshot import read_daemon_pid

LEAST_TITLE_WIDTH = 30
NOTHING: Mapping[str, Any] = MappingProxyType({})


def all_views(site: Site, *, ended: bool) -> list[TaskView]:
    tasks = site.ledger.tasks.all(ended=ended)
    queued = [task for task in tasks if task.standing is Standing.QUEUED]
    return task_views(site, tasks, sorted(queued, key=lambda task: -task.priority))


def task_views(site: Site, tasks: Iterable[Task], queued: list[Task] | None = None) -> list[TaskView]:
    """Each as it stands, with what it waits for. `queued`: all that are, in their order, if they were read already."""
    state = site.ledger.load()
    holders = {**holders_elsewhere(site.root), **holders_of(state)}
    _, plan = next_assignment(site, state, tasks=queued, elsewhere=hands_elsewhere(site.root))
    next_to = {task.id: worker for task, worker in plan.pairs}
    in_train = {entry.task for entry in site.ledger.tasks.train.open()}
    views = []
    for task in tasks:
        view = view_of(task, holders.get(task.id), in_train=task.id in in_train)
        why = plan.waiting.get(task.id, view.reason)
        if not why and task.id in next_to:
            why = f"{next_to[task.id]} is free for it"
        views.append(view if why == view.reason else TaskView(task, view.state, view.worker, why))
    return views


def task_data(view: TaskView, usage: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """`usage`: what tasks have spent, by their ids."""
    task = view.task
    done_by = task.avoid if task.standing is Standing.LANDED else ""
    return {
        "id": task.id,
        "title": task.title,
        "text": task.text,
        "state": view.state.value,
        "worker": view.worker or done_by or None,
        "after": list(task.after),
        "priority": task.priority,
        "attempts": task.attempts,
        "landed_sha": task.landed_sha,
        "reason": view.reason or None,
        "created_at_unix": task.created_at_unix,
        "touches": list(task.touches),
        "auto_accept": task.auto_accept,
        "wants": {"worker": task.worker or None, "agent": task.agent or None, "machine": task.machine or None},
        "more": task.more or None,
        "parent": task.parent or None,
        "asked_by": task.asked_by or None,
        "machine": task.given_on or None,
        "request": task.request or None,
        "usage": usage.get(task.id),
    }


def spent_by_tasks(site: Site, task_ids: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
    """What each of these has spent, with all that was made for it; of those that have spent anything."""
    if not os.path.exists(site.root.usage):
        return {}
    from llmc.perform.metering import spent_data_of  # what nobody has counted needs no prices

    return spent_data_of(site, task_ids)


def table_of(views: Sequence[TaskView], columns: int | None) -> list[str]:
    """A line for each, in so many columns: id, state, worker, title, why."""
    rows = [(each.task.id, each.state.value, each.worker, _title(each.task), each.reason) for each in views]
    widths = [max(len(row[cell]) for row in rows) for cell in range(5)] if rows else []
    if columns is not None and widths:
        room = max(columns - sum(widths[:3]) - 8, 2)
        widths[3] = min(widths[3], max(room - widths[4], LEAST_TITLE_WIDTH), room - 1)
        widths[4] = room - widths[3]
    return [
        "  ".join(f"{one_line(cell, width):<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _title(task: Task) -> str:
    return task.title + (f" (priority {task.priority})" if task.priority else "")


def queued_result(site: Site, tasks: Sequence[Task]) -> Result:
    """Queues a task that names no other of them, and answers with its id."""
    (added,) = site.ledger.add_tasks(lambda first: tasks, site.now())
    return added_result(site, added)


def added_result(site: Site, added: Task) -> Result:
    from llmc.commands.shared.text_input import forget_drafts

    forget_drafts()
    (view,) = task_views(site, [added])
    why = f": {view.reason}" if view.reason else ""
    return Result(f"{added.id} is {view.state.value}{why}{how_it_goes_on(site, [view])}", task_data(view))


def how_it_goes_on(site: Site, views: Sequence[TaskView]) -> str:
    """Who gives these out, where nobody does."""
    waits = any(view.state is TaskState.QUEUED for view in views)
    if not waits or read_daemon_pid(site.root.daemon_lock) is not None:
        return ""
    return "\nno daemon runs: `llmc up --detach` gives tasks out by itself, `llmc task run-next` one of them"


def counts_of(views: Iterable[TaskView]) -> str:
    """`3 queued, 1 failed`."""
    states = [view.state.value for view in views]
    return ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states)) or counted(0, "task")
