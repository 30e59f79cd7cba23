"""`llmc task cancel`: tasks that are not to be done."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.shared.result import Result
from llmc.commands.shared.task_changes import changed
from llmc.core.tasks.changes import cancel


def run(app: App, args: Namespace) -> Result:
    return changed(app, args.ids, cancel)
