"""`llmc remote-retire`: a hub had given this machine up. Its agents end, their work is kept, and it begins anew."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from llmc.app import App
from llmc.commands.shared.own_process import ask_llmc
from llmc.commands.shared.result import Result
from llmc.core.tasks.changes import cancel
from llmc.core.tasks.task import TaskState, view_of
from llmc.errors import LlmcError
from llmc.site import Site
from llmc.store.ledger import holders_of
from llmc.store.machine_file import read_membership, write_membership


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    member = read_membership(site.root)
    if member is None:
        raise LlmcError(f"{site.root.path} is the machine of no hub", "nothing was changed")
    if member.epoch < args.epoch:
        _stop(site)
        write_membership(site.root, replace(member, epoch=args.epoch))
    names = list(site.ledger.load().workers)
    return Result(f"begun anew: {', '.join(names) or 'no workers'}", {"epoch": args.epoch, "workers": names})


def _stop(site: Site) -> None:
    """In this order: who gives tasks out ends first."""
    workers = site.ledger.load().workers
    lines = [["down", "--force"], *([["reset", "--all", "--yes"]] if workers else [])]
    for words in lines:
        done = ask_llmc(site.host, site.root, words)
        if not done.ok:
            raise LlmcError(done.error, done.hint)
    holders = holders_of(site.ledger.load())
    views = [view_of(task, holders.get(task.id)) for task in site.ledger.tasks.all(ended=False)]
    waiting = [view.task.id for view in views if view.task.request and view.state in (TaskState.QUEUED, TaskState.HELD)]
    site.ledger.change_tasks(waiting, cancel, site.now())
