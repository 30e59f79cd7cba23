"""`llmc task add`: a task into the queue."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.commands.shared.task_fields import fields_from
from llmc.commands.shared.task_words import queued_result
from llmc.commands.shared.text_input import task_text
from llmc.core.tasks.changes import new_task


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    fields = fields_from(site, args)
    text = task_text(app.environ, site.root.inside("templates"), args, None, args.file)
    return queued_result(site, [new_task(text, site.now(), hold=args.hold, **fields)])
