"""`llmc remote-ending`: typed by an allocation that is about to end. Turns are interrupted, and all work is kept."""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress

from llmc.app import App
from llmc.commands.interrupt import run as interrupt
from llmc.commands.shared.result import Result
from llmc.errors import LlmcError
from llmc.git.backup import make_backup
from llmc.git.backup_record import Backup
from llmc.site import Site
from llmc.store.machine_file import note_ending

REASON = "the allocation ends"


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    note_ending(site.root)
    stopped = interrupt(app, Namespace(names=[], all=True, within=args.within, force=False))
    kept = [backup.ref for backup in (_kept(site, name) for name in site.ledger.load().workers) if backup]
    return Result("\n".join([stopped.text, *(f"kept {ref}" for ref in kept)]), {"kept": kept}, stopped.exit_code)


def _kept(site: Site, name: str) -> Backup | None:
    """Its commits and its files, also what is not committed. Who is busy is kept as it is now."""
    worker = site.worker(name)
    with suppress(LlmcError):
        where = worker.worktree_path
        return make_backup(site.git, where, name, site.now(), reason=REASON, safe_sha=worker.base_sha or None)
    return None
