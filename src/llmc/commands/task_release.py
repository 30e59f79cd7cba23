"""`llmc task release`: a task that was held may be given out, one that had spent its budget goes on."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.commands.shared.task_changes import changed
from llmc.core.tasks.changes import release
from llmc.store.ledger import holders_of


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    holders = holders_of(site.ledger.load())
    if len(args.ids) == 1 and args.ids[0] in holders:
        from llmc.commands.shared.more_budget import let_go_on

        went_on = let_go_on(site, args.ids[0], holders[args.ids[0]])
        if went_on is not None:
            return went_on
    return changed(app, args.ids, release)
