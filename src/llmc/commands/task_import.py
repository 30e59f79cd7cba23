"""`llmc task import`: many tasks from one file, all or nothing."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.commands.shared.task_fields import check_names
from llmc.commands.shared.task_words import how_it_goes_on, table_of, task_data, task_views
from llmc.commands.shared.text_input import plan_text
from llmc.core.delivery.texts import check_text
from llmc.core.display import counted
from llmc.core.tasks.plan_file import PlannedTask, after_ids, as_task, read_plan
from llmc.core.tasks.task import Task
from llmc.errors import LlmcError
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    plan = read_plan(plan_text(args.file), os.path.basename(args.file))
    _check(site, plan)
    known = site.ledger.tasks.named(each for task in plan for each in task.after)
    now = site.now()

    def numbered(first: int) -> Sequence[Task]:
        return [as_task(each, after, now) for each, after in zip(plan, after_ids(plan, known, first), strict=True)]

    added = site.ledger.add_tasks(numbered, now)
    views = task_views(site, added)
    told = f"{counted(len(added), 'task')} queued{how_it_goes_on(site, views)}"
    lines = [*table_of(views, app.console.columns), told]
    return Result("\n".join(lines), {"schema": 1, "tasks": [task_data(view) for view in views]})


def _check(site: Site, plan: Sequence[PlannedTask]) -> None:
    for task in plan:
        try:
            for text in (task.title, task.text):
                check_text(text)
            check_names(site, [task.worker], [task.agent])
        except LlmcError as wrong:
            raise type(wrong)(f"task {task.title!r}: {wrong.what}", f"{wrong.hint}; nothing was queued") from None
