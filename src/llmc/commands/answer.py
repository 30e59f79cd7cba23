"""`llmc answer`: answers an agent's open permission or question dialog."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.acting import acting_for, told
from llmc.commands.result import Result
from llmc.core import events as ev
from llmc.core.sendable import check_text
from llmc.model import Outcome
from llmc.perform.answering import answer


def run(app: App, args: Namespace) -> Result:
    check_text(args.choice)
    site = app.site()
    with acting_for(site, args.worker) as worker:
        receipt, dialog = answer(site, worker, args.choice)
        site.ledger.note(worker.name, site.now(), "answer", f"{dialog}: {args.choice}")
        if receipt.outcome is Outcome.DELIVERED:
            site.ledger.apply(worker.name, ev.AnswerGiven(site.now(), args.choice))
    return told(receipt, args.worker)
