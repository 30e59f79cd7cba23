"""`llmc task edit`: another text, title or constraint, while no worker has the task."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.commands.shared.task_changes import changed
from llmc.commands.shared.task_fields import fields_from
from llmc.commands.shared.text_input import forget_drafts, text_from
from llmc.core.tasks.changes import edit
from llmc.core.tasks.queue import find_cycle
from llmc.core.tasks.task import view_of
from llmc.errors import LlmcError
from llmc.site import Site
from llmc.store.ledger import holders_of


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    task = site.ledger.tasks.task(args.id)
    fields = fields_from(site, args)
    edit(view_of(task, holders_of(site.ledger.load()).get(task.id)), {})  # before a person writes for nothing
    if args.text is not None or args.file is not None or not fields:
        fields["text"] = text_from(args.text, args.file, environ=app.environ, draft=task.text)
    if "after" in fields:
        _refuse_cycle(site, task.id, tuple(fields["after"]))
    result = changed(app, [task.id], lambda view: edit(view, fields))
    forget_drafts()
    return result


def _refuse_cycle(site: Site, task_id: str, after: tuple[str, ...]) -> None:
    known = {each.id: each.after for each in site.ledger.tasks.all() if each.after}
    cycle = find_cycle({task_id: after, **{each: known[each] for each in known if each != task_id}})
    if cycle:
        raise LlmcError(f"these tasks would wait for each other: {' -> '.join(cycle)}", "nothing was changed")
