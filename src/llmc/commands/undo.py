"""`llmc undo`: lists and restores backups."""

from __future__ import annotations

import time
from argparse import Namespace

from llmc.app import App
from llmc.commands.acting import acting_for, catch_up
from llmc.commands.losses import describe_loss
from llmc.commands.result import Result
from llmc.core.display import age
from llmc.errors import LlmcError, WrongWordsError
from llmc.git.backup import list_backups, make_backup, restore_backup
from llmc.git.backup_record import Backup
from llmc.site import Site


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    backups = list_backups(site.git, site.root.path, args.worker)
    if args.worker is not None and not backups:
        site.worker(args.worker)  # a name that no backup knows either is a mistake
    if args.list or (args.worker is None and args.backup is None):
        listed = "\n".join(_line(backup) for backup in backups) or "there are no backups"
        return Result(listed, [_data(backup) for backup in backups])
    backup = _chosen(backups, args)
    name = args.worker or backup.worker
    _refuse_removed(site, name)
    with acting_for(site, name) as worker:
        loss = describe_loss(site, worker)
        if loss and not app.console.confirm(f"{name} has {loss}. Put the backup in its place? A backup is kept."):
            raise LlmcError(f"{name} has {loss}; nothing was changed", "say --yes; what it has now is backed up too")
        make_backup(site.git, worker.worktree_path, name, site.now(), reason="undo")
        restore_backup(site.git, worker.worktree_path, backup)
        site.ledger.note(name, site.now(), "undo", f"restored {backup.ref}")
        catch_up(site, name)
    return Result(f"{name}: restored {backup.ref}", _data(backup))


def _refuse_removed(site: Site, name: str) -> None:
    if name not in site.ledger.load().workers:
        raise LlmcError(f"{name} was removed", f"`llmc add {name}` makes it again, and `llmc undo {name}` its work")


def _chosen(backups: tuple[Backup, ...], args: Namespace) -> Backup:
    if args.backup is not None:
        matching = [backup for backup in backups if backup.ref.endswith(args.backup)]
        if len(matching) != 1:
            raise WrongWordsError(f"{args.backup} names {len(matching)} backups", "`llmc undo --list` shows them")
        return matching[0]
    if not backups:
        raise LlmcError(f"there is no backup of {args.worker}", "`llmc undo --list` shows all there are")
    return max(backups, key=lambda backup: (backup.at_unix, backup.ref))


def _line(backup: Backup) -> str:
    files = f", {len(backup.dirty)} uncommitted files" if backup.dirty else ""
    when = age(time.time() - backup.at_unix)
    return f"{backup.ref}  {when} ago, before {backup.reason or 'a change'}: {backup.head_sha[:12]}{files}"


def _data(backup: Backup) -> dict[str, object]:
    return {
        "ref": backup.ref,
        "worker": backup.worker,
        "head_sha": backup.head_sha,
        "branch": backup.branch,
        "at_unix": backup.at_unix,
        "reason": backup.reason,
        "dirty": list(backup.dirty),
    }
