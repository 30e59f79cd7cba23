"""`llmc task list`: the tasks that are not done yet, or all of them."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.commands.shared.task_words import all_views, counts_of, how_it_goes_on, spent_by_tasks, table_of, task_data

MOST_SHOWN = 500
"""More lines than anybody reads; `--json` has all of them."""


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    views = all_views(site, ended=args.all)
    data = None
    if args.json:
        usage = spent_by_tasks(site)
        data = {"schema": 1, "tasks": [task_data(view, usage) for view in views]}
    if not views:
        return Result("no tasks wait: `llmc task add ...` queues one", data)
    table = table_of(views[:MOST_SHOWN], app.console.columns)
    more = len(views) - len(table)
    rest = [f"... and {more} more: `llmc task list --json` has them"] if more else []
    return Result("\n".join([*table, *rest, f"{counts_of(views)}{how_it_goes_on(site, views)}"]), data)
