"""Commands that change tasks which no worker has: all that are named, or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.commands.shared.task_words import table_of, task_data, task_views
from llmc.core.tasks.changes import TaskChange
from llmc.core.tasks.task import TaskView
from llmc.errors import LlmcError


def changed(app: App, task_ids: Sequence[str], change: Callable[[TaskView], TaskChange]) -> Result:
    site = app.site()
    try:
        site.ledger.change_tasks(task_ids, change, site.now())
    except LlmcError as refused:
        if len(task_ids) > 1:
            refused.what += "; none of these tasks was changed"
        raise
    views = task_views(site, [site.ledger.tasks.task(each) for each in dict.fromkeys(task_ids)])
    data = [task_data(view) for view in views]
    text = "\n".join(table_of(views, app.console.columns))
    return Result(text, data[0] if len(task_ids) == 1 else {"schema": 1, "tasks": data})
