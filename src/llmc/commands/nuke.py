"""`llmc nuke`: workers go for good; their unmerged work stays in a backup."""

from __future__ import annotations

from argparse import Namespace

from llmc.app import App
from llmc.commands.acting import terminals
from llmc.commands.losses import describe_loss
from llmc.commands.result import Result
from llmc.core import events as ev
from llmc.errors import LlmcError, WrongWordsError
from llmc.perform.settle import ask
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    names = _names(site, args)
    losses = {name: describe_loss(site, site.worker(name)) for name in names}
    losing = {name: loss for name, loss in losses.items() if loss}
    if losing and not app.console.confirm(f"{_listed(losing)}. Remove them? A backup is kept."):
        raise LlmcError(f"{_listed(losing)}; nothing was removed", "say --yes to remove them; a backup is kept")
    terminals(site)
    for name in names:
        with site.acting_for(name):
            settled = ask(site, name, ev.RemovalAsked(site.now()))
        if settled.refusal is not None:
            raise settled.refusal
    kept = "; `llmc undo --list` shows what is kept of them" if losing else ""
    return Result(f"removed {', '.join(names)}{kept}" if names else "there are no workers", {"removed": names})


def _names(site: Site, args: Namespace) -> list[str]:
    if args.all == bool(args.names):
        raise WrongWordsError("say which workers", "`llmc nuke NAME...` or `llmc nuke --all`")
    if args.all:
        return list(site.ledger.load().workers)
    return [site.worker(name).name for name in dict.fromkeys(args.names)]


def _listed(losing: dict[str, str]) -> str:
    return "; ".join(f"{name} has {loss}" for name, loss in losing.items())
