"""`llmc rebase`: a worker's work onto the newest state of the branch."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.acting import acting_for, newest_tip
from llmc.commands.result import Result
from llmc.core import events as ev
from llmc.model import Work
from llmc.perform.settle import ask


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    with acting_for(site, args.worker):
        tip = newest_tip(site)
        settled = ask(site, args.worker, ev.RebaseAsked(site.now(), tip))
    worker = site.worker(args.worker)
    if settled.refusal is not None:
        raise settled.refusal
    files = list(worker.conflicted_files)
    text = f"{worker.name}: now on {tip[:12]}"
    if worker.work is Work.REBASING:
        text = f"{worker.name}: conflicts in {', '.join(files)}; the agent was asked to resolve them"
    return Result(text, {"worker": worker.name, "status": worker.status, "onto": tip, "conflicted_files": files})
