"""`llmc rebase`: a worker's work onto the newest state of the branch."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for
from llmc.commands.shared.receipts import EXIT_CODES, notes_of, unless_refused
from llmc.commands.shared.result import Result
from llmc.core.lifecycle import events as ev
from llmc.git.clone import fetch_source
from llmc.model import Outcome, Work
from llmc.perform.steps import decide_and_run


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    with acting_for(site, args.worker):
        repo = site.config.repo
        tip = fetch_source(site.git, repo.source, site.root.path, repo.branch)  # it has moved, or nobody would ask
        settled = unless_refused(decide_and_run(site, args.worker, ev.RebaseAsked(site.now(), tip)))
    worker = site.worker(args.worker)
    files = list(worker.conflicted_files)
    text = "\n".join([f"{worker.name}: now on {tip[:12]}", *notes_of(settled)])
    data = {"worker": worker.name, "status": worker.status, "onto": tip, "conflicted_files": files}
    if worker.work is not Work.REBASING:
        return Result(text, data)
    receipt = settled.receipts[-1] if settled.receipts else None
    told = "the agent was asked to resolve them"
    if not site.agent_of(worker).takes_prose:
        told = f"resolve them yourself: `llmc attach {worker.name}`"
    elif receipt is not None and receipt.outcome is Outcome.UNDELIVERED:
        told = f"the agent was not asked: {receipt.reason}; `llmc rebase {worker.name}` asks again"
    elif receipt is not None and receipt.outcome is Outcome.UNKNOWN:
        told = f"it is not known whether the agent was asked: {receipt.reason}"
    outcome = receipt.outcome if receipt is not None else Outcome.DELIVERED
    text = "\n".join([f"{worker.name}: conflicts in {', '.join(files)}; {told}", *notes_of(settled)])
    return Result(text, data, EXIT_CODES[outcome])
