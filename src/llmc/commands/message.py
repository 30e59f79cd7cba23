"""`llmc message`: a text for a worker's agent, with a receipt."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for, wait_until_settled
from llmc.commands.shared.receipts import came_of, receipt_of, receipt_result
from llmc.commands.shared.result import Result
from llmc.commands.shared.text_input import text_from
from llmc.core.lifecycle import events as ev
from llmc.perform.steps import decide_and_run


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    site.worker(args.worker)
    text = text_from(args.text, args.file, environ=app.environ)
    with acting_for(site, args.worker):
        receipt = receipt_of(decide_and_run(site, args.worker, ev.MessageGiven(site.now(), text)))
    result = receipt_result(receipt, args.worker)
    if args.wait and result.exit_code == 0:
        worker = wait_until_settled(site, args.worker)
        return Result(f"{result.text}\n{came_of(worker)}", result.data)
    return result
