"""`llmc remote-landed`: a hub says that a worker's work has landed. The worker becomes idle on the new commit."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.care.acting import acting_for, newest_tip
from llmc.commands.shared.receipts import unless_refused
from llmc.commands.shared.result import Result
from llmc.core.lifecycle import events as ev
from llmc.errors import LlmcError
from llmc.git.history import is_ancestor, merged_elsewhere
from llmc.git.repository import branch_tip
from llmc.model import Turn, Work, Worker
from llmc.perform.steps import decide_and_run
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    with acting_for(site, args.worker) as worker:
        tip = newest_tip(site)
        if not is_ancestor(site.git, site.root.path, args.sha, tip):
            raise LlmcError(f"{args.sha[:12]} is not on the branch here", "the hub sends it first")
        if not _is_all_of_it(site, worker, args.head, tip):
            return Result(f"{worker.name} has gone on since", {"worker": worker.name, "kept": True})
        event = ev.LandedAtHub(site.now(), args.sha, args.reviewed)
        unless_refused(decide_and_run(site, args.worker, event, tip))
    return Result(f"{worker.name}: has landed as {args.sha[:12]}", {"worker": worker.name, "kept": False})


def _is_all_of_it(site: Site, worker: Worker, head: str, tip: str) -> bool:
    """What was landed is what the worker has: else there is more to review, or it is at something else by now."""
    if worker.work not in (Work.NEEDS_REVIEW, Work.NEEDS_INPUT) or worker.turn is Turn.OPEN:
        return False
    own = branch_tip(site.git, site.root.path, worker.branch)
    return own == head or (own is not None and merged_elsewhere(site.git, site.root.path, own, tip))
