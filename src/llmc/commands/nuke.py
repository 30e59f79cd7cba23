"""`llmc nuke`: workers go for good; their unmerged work stays in a backup."""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress

from llmc.app import App
from llmc.care.acting import newest_tip
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
    with site.git.operation:
        return _nuke(app, site, named_workers(site, args, "nuke"))


def _nuke(app: App, site: Site, names: list[str]) -> Result:
    tip = _learn_what_landed(site)
    losses = {name: find_loss(site, site.worker(name)) for name in names}
    gone = {name: loss.not_kept for name, loss in losses.items() if loss.not_kept}
    losing = {name: loss.words or loss.not_kept for name, loss in losses.items() if loss.words or loss.not_kept}
    if losing:
        hint = f"pass --yes to remove them. {_promise(gone)}"
        nobody = LlmcError(f"{_listed(losing)}; nothing was removed", hint)
        require_agreement(app, f"{_listed(losing)}. Remove them? {_promise(gone)}", nobody, "nothing was removed")
    foreign = "".join(note_of_foreign(site, site.worker(name)) for name in names)
    site.panes()
    for name in names:
        with site.lock_of(name):
            unless_refused(decide_and_run(site, name, ev.RemovalAsked(site.now()), tip))
    return Result(_told(names, losing, gone) + foreign, {"removed": names, "not_kept": gone})


def _learn_what_landed(site: Site) -> str | None:
    """From the user's own repository: the clone's name for its branch may be old, or moved by an agent."""
    with suppress(LlmcError):
        return newest_tip(site)
    return None


def _told(names: list[str], losing: dict[str, str], gone: dict[str, str]) -> str:
    if not names:
        return "there are no workers"
    kept = "; `llmc undo --list` shows what is kept of them" if losing else ""
    lost = f"\nnote: no backup could keep {_lost(gone)}" if gone else ""
    return f"removed {', '.join(names)}{kept}{lost}"


def _promise(gone: dict[str, str]) -> str:
    return f"A backup is kept, but not of {_lost(gone)}." if gone else "A backup is kept."


def _lost(gone: dict[str, str]) -> str:
    return "; ".join(f"{name}'s {left}" for name, left in gone.items())


def _listed(losing: dict[str, str]) -> str:
    return "; ".join(f"{name} has {loss}" for name, loss in losing.items())
