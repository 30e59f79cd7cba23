"""`llmc reset`: a worker back to idle on the tip of the branch, with a backup of what it had."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for, newest_tip
from llmc.commands.shared.agreement import require_agreement
from llmc.commands.shared.losses import find_loss, note_of_foreign
from llmc.commands.shared.receipts import unless_refused
from llmc.commands.shared.result import Result
from llmc.commands.shared.which_workers import named_workers
from llmc.core.lifecycle import events as ev
from llmc.errors import LlmcError
from llmc.perform.steps import decide_and_run
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    names = named_workers(site, args, "reset")
    results = [_reset(app, site, name) for name in names]
    single = len(args.names) == 1 and not args.all
    data = [result.data for result in results]
    text = "\n".join(result.text for result in results) or "there are no workers"
    return Result(text, data[0] if single else {"workers": data})


def _reset(app: App, site: Site, name: str) -> Result:
    with acting_for(site, name) as worker:
        loss, foreign = find_loss(site, worker).words, note_of_foreign(site, worker)
        if loss:
            nobody = LlmcError(f"{name} has {loss}; nothing was changed", "pass --yes to reset it; a backup is kept")
            question = f"{name} has {loss}. Reset it? A backup is kept."
            require_agreement(app, question, nobody, f"{name}: nothing was changed")
        unless_refused(decide_and_run(site, worker.name, ev.ResetAsked(site.now()), newest_tip(site)))
    site.ledger.tasks.train.take_out(name, f"{name} was reset")
    after = site.worker(name)
    kept = f"; `llmc undo {after.name}` brings the old work back" if loss else ""
    return Result(f"{after.name}: {after.status}{kept}{foreign}", {"worker": after.name, "status": after.status})
