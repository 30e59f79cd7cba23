"""`llmc task graph`: what comes after what."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.commands.shared.task_words import task_views
from llmc.core.tasks.graph import FORMATS


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    tasks = site.ledger.tasks
    found = {task.id: task for task in tasks.all(ended=args.all)}
    found |= tasks.named(each for task in found.values() for each in task.after if each not in found)
    views = task_views(site, found.values())
    edges = [[each, view.task.id] for view in views for each in view.task.after]
    nodes = [{"id": view.task.id, "title": view.task.title, "state": view.state.value} for view in views]
    return Result(FORMATS[args.format](views) or "there are no tasks", {"schema": 1, "tasks": nodes, "edges": edges})
