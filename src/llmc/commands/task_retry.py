"""`llmc task retry`: a task that came to nothing goes into the queue again, with more words for the agent."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.commands.shared.task_changes import changed
from llmc.commands.shared.text_input import text_from
from llmc.core.tasks.changes import retry


def run(app: App, args: Namespace) -> Result:
    words = text_from(args.words, None, environ=app.environ) if args.words is not None else ""
    return changed(app, [args.id], lambda view: retry(view, words))
