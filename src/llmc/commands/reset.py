"""`llmc reset`: a worker back to idle on the tip of the branch, with a backup of what it had."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for, newest_tip
from llmc.commands.shared.losses import find_loss, note_of_foreign
from llmc.commands.shared.receipts import unless_refused
from llmc.commands.shared.result import Result
from llmc.core.lifecycle import events as ev
from llmc.errors import LlmcError
from llmc.perform.steps import decide_and_run


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    with acting_for(site, args.worker) as worker:
        loss, foreign = find_loss(site, worker).words, note_of_foreign(site, worker)
        if loss and not app.console.confirm(f"{worker.name} has {loss}. Reset it? A backup is kept."):
            raise LlmcError(
                f"{worker.name} has {loss}; nothing was changed", "pass --yes to reset it; a backup is kept"
            )
        unless_refused(decide_and_run(site, worker.name, ev.ResetAsked(site.now()), newest_tip(site)))
    after = site.worker(args.worker)
    kept = "; `llmc undo` brings the old work back" if loss else ""
    return Result(f"{after.name}: {after.status}{kept}{foreign}", {"worker": after.name, "status": after.status})
