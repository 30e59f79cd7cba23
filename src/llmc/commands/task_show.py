"""`llmc task show`: all that is known of one task."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.commands.shared.task_words import spent_by_tasks, task_data, task_views
from llmc.core.display import age, one_line, usage_words
from llmc.core.tasks.task import TaskView
from llmc.model import Worker
from llmc.site import Site
from llmc.store.json_values import json_object
from llmc.store.tasks import TaskEvent


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    (view,) = task_views(site, [site.ledger.tasks.task(args.id)])
    history = site.ledger.tasks.history(view.task.id)
    holder = site.ledger.load().workers.get(view.worker)
    usage = spent_by_tasks(site, [view.task.id])
    data = {**task_data(view, usage), **_parts(history), "evidence": json_object(holder.evidence) if holder else None}
    return Result("\n".join(_lines(site, view, history, holder, usage.get(view.task.id))), data)


def _parts(history: list[TaskEvent]) -> dict[str, Any]:
    told = [json_object(each) for each in history]
    of_kind = {name: [each for each in told if each["kind"] == kind] for name, kind in KINDS.items()}
    return {**of_kind, "history": told}


KINDS = {"receipts": "receipt", "rounds": "round", "checks": "checked"}
"""What else a task has, by the kind of its entries in the history."""


def _lines(
    site: Site, view: TaskView, history: list[TaskEvent], holder: Worker | None, usage: dict[str, Any] | None
) -> Iterable[str]:
    task, now = view.task, site.now()
    yield f"{task.id} {one_line(task.title, 100)}"
    yield f"state: {view.state.value}" + (f" ({one_line(view.reason, 200)})" if view.reason else "")
    if holder is not None:
        evidence = holder.evidence
        yield f"worker: {holder.name}, {holder.status}: {evidence.signal}, {age(now - evidence.at_unix)} ago"
    wants = {"worker": task.worker, "agent": task.agent, "machine": task.machine}
    told = {
        "after": ", ".join(task.after),
        "priority": str(task.priority or ""),
        "only for": ", ".join(f"{what} {name}" for what, name in wants.items() if name),
        "touches": ", ".join(task.touches),
        "lands by itself": "when its checks pass" if task.auto_accept else "",
        "attempts": str(task.attempts or ""),
        "landed": task.landed_sha or "",
        "usage": usage_words(usage) if usage is not None else "",
    }
    yield from (f"{name}: {value}" for name, value in told.items() if value)
    yield from ["", task.text.strip(), *(["", task.more] if task.more else []), "", "history:"]
    yield from (_entry(each, now) for each in history)


def _entry(event: TaskEvent, now: float) -> str:
    who = f" {event.worker}" if event.worker else ""
    detail = f": {one_line(event.detail, 200)}" if event.detail else ""
    return f"  {age(now - event.at_unix):>4} ago  {event.kind}{who}{detail}{_evidence(event)}"


def _evidence(event: TaskEvent) -> str:
    """On what it was known, in brief; `--json` has all of it."""
    told = event.data.get("signal") or event.data.get("proof")
    return f" ({told})" if told else ""
