"""`llmc answer`: answers an agent's open permission or question dialog."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from llmc.app import App
from llmc.care.acting import acting_for
from llmc.commands.shared.receipts import receipt_result
from llmc.commands.shared.result import Result
from llmc.core.delivery.texts import check_text
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import StartSession
from llmc.core.lifecycle.transitions.shared import awaits
from llmc.model import Outcome
from llmc.perform.answer import answer
from llmc.perform.steps import settle


def run(app: App, args: Namespace) -> Result:
    check_text(args.choice)
    site = app.site()
    with acting_for(site, args.worker) as worker:
        receipt, dialog = answer(site, worker, args.choice, args.dialog)
        site.ledger.note(worker.name, site.now(), "answer", f"{dialog}: {args.choice}")
        if receipt.outcome is Outcome.DELIVERED:
            site.ledger.apply(worker.name, ev.AnswerGiven(site.now(), args.choice))
        result = receipt_result(receipt, args.worker)
        if receipt.outcome is not Outcome.DELIVERED or not awaits(worker, StartSession):
            return result
        settle(site, worker.name)  # the start goes on with the answer
    after = site.worker(args.worker)
    why = f": {after.start_dialog or after.evidence.detail}" if after.status != "idle" else ""
    return replace(result, text=f"{result.text}\n{after.name}: {after.status}{why}")
