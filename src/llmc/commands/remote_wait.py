"""`llmc remote-wait`: a hub waits until a worker here has finished or needs somebody."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import wait_until_settled
from llmc.commands.shared.receipts import came_of
from llmc.commands.shared.result import Result


def run(app: App, args: Namespace) -> Result:
    worker = wait_until_settled(app.site(), args.worker)
    return Result(came_of(worker), {"worker": worker.name, "status": worker.status})
