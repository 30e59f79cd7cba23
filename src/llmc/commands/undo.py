"""`llmc undo`: lists and restores backups."""

from __future__ import annotations

import time
from argparse import Namespace
from dataclasses import replace

from llmc.app import App
from llmc.care.acting import acting_for
from llmc.care.catch_up import catch_up
from llmc.care.up_to_date import bring_all_up_to_date
from llmc.commands.shared.agreement import require_agreement
from llmc.commands.shared.losses import find_loss, note_of_foreign
from llmc.commands.shared.result import Result
from llmc.core.display import age, one_line
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.clocks import in_order
from llmc.daemon.process import running_daemon
from llmc.errors import InvalidUsageError, LlmcError
from llmc.git.backup import list_backups, make_backup, restore_backup, same_content
from llmc.git.backup_record import Backup
from llmc.git.history import is_ancestor, subjects_of
from llmc.host.faults import Moment, reached
from llmc.observe.branches import upstream_tip, work_ahead
from llmc.perform.worktrees import make_it_ours
from llmc.site import Site
from llmc.store.machine_file import require_no_hub

BEGUN, DONE = "undo begun", "undo"
"""In the log of events, with the backup that it is about."""


def run(app: App, args: Namespace) -> Result:
    site = app.site()
    if args.landing is not None:
        return _take_back(app, site, args)
    listed = list_backups(site.git, site.root.path, args.worker)
    backups = tuple(sorted(listed, key=lambda each: in_order(each.at_unix, site.now()), reverse=True))
    if args.worker is not None and not backups:
        site.worker(args.worker)  # a name that no backup knows either is a mistake
    if args.list or (args.worker is None and args.backup is None):
        subjects = subjects_of(site.git, site.root.path, [backup.head_sha for backup in backups])
        lines = [_line(backup, subjects.get(backup.head_sha, "")) for backup in backups]
        data = [{**_data(backup), "subject": subjects.get(backup.head_sha)} for backup in backups]
        return Result("\n".join(lines) or "there are no backups", data)
    named = _named(backups, args.backup) if args.backup is not None else None
    name = named.worker if named is not None and args.worker is None else args.worker
    _refuse_removed(site, name)
    if not backups:
        raise LlmcError(f"there is no backup of {name}", "`llmc undo --list` shows all there are")
    with acting_for(site, name) as worker:
        loss, foreign = find_loss(site, worker).words, note_of_foreign(site, worker)
        if loss:
            hint = "pass --yes; what it has now is backed up too"
            question = f"{name} has {loss}. Put the backup in its place? A backup is kept."
            require_agreement(app, question, LlmcError(f"{name} has {loss}; nothing was changed", hint))
        make_it_ours(site, worker)
        task, number = worker.current_prompt, worker.task
        present = make_backup(
            site.git, worker.worktree_path, name, site.now(), reason="undo", task=task, task_id=number
        )
        reached(Moment.UNDO_BACKED_UP)
        backup = named or _cut_short(site, backups, name) or _newest_other(site, backups, present, name)
        site.ledger.note(name, site.now(), BEGUN, backup.ref)
        # Whatever the backup's own words are: an agent can write such a commit, too.
        restore_backup(site.git, worker.worktree_path, replace(backup, branch=worker.branch))
        reached(Moment.UNDO_RESTORED)
        site.ledger.note(name, site.now(), DONE, f"restored {backup.ref}")
        found = work_ahead(site, worker)
        if backup.task:
            site.ledger.apply(name, ev.WorkRestored(site.now(), backup.task, found, backup.task_id))
        catch_up(site, name)
    landed = "" if found is not None else _note_of_landed(site, backup)
    return Result(f"{name}: restored {backup.ref}{foreign}{landed}", _data(backup))


def _note_of_landed(site: Site, backup: Backup) -> str:
    """Work that the branch has, or had until it was taken back, is not offered for review again."""
    tip, branch = upstream_tip(site), site.config.repo.branch
    if tip is None or is_ancestor(site.git, site.root.path, backup.head_sha, tip):
        return ""
    again = f"; `llmc task retry {backup.task_id}` does it again" if backup.task_id else ""
    return f"\nnote: {branch} has had this work before, so nothing of it waits for review{again}"


def _take_back(app: App, site: Site, args: Namespace) -> Result:
    from llmc.care.landing_notes import pushed  # only for those who take a landing back
    from llmc.perform.revert import take_back_landing

    if args.worker is not None or args.backup is not None:
        raise InvalidUsageError("a landing is taken back by its task alone", "`llmc undo --landing TASK`")
    require_no_hub(site.root, "what has landed is taken back there")
    task = site.ledger.tasks.task(args.landing)
    question = f"Take the work of {task.id} ({task.title}) out of {site.config.repo.branch} by a commit on top?"
    if app.console.is_terminal and not app.console.confirm(question):
        raise LlmcError("nothing was changed", "`llmc task show` tells what the task was")
    made = take_back_landing(site, task)
    remote, error = pushed(site, made)
    notes = [f"pushed to {remote}"] if remote else []
    notes += [f"it is taken back, but not pushed: {error}"] if error else []
    notes += bring_all_up_to_date(site) if running_daemon(site.root) is None else []
    branch = site.config.repo.branch
    first = f"{task.id}: taken back by {made[:12]} on {branch}; `llmc task retry {task.id}` queues it again"
    data = {"task": task.id, "landed_sha": task.landed_sha, "commit": made, "branch": branch}
    return Result("\n".join([first, *(f"note: {note}" for note in notes)]), data)


def _refuse_removed(site: Site, name: str) -> None:
    if name not in site.ledger.load().workers:
        raise LlmcError(f"{name} was removed", f"`llmc add {name}` makes it again, and `llmc undo {name}` its work")


def _named(backups: tuple[Backup, ...], ending: str) -> Backup:
    matching = [backup for backup in backups if backup.ref.endswith(ending)]
    if len(matching) != 1:
        raise InvalidUsageError(f"{ending} names {len(matching)} backups", "`llmc undo --list` shows them")
    return matching[0]


def _cut_short(site: Site, backups: tuple[Backup, ...], name: str) -> Backup | None:
    """What an undo was about to restore that did not come to its end, unless something else was backed up since."""
    last = site.ledger.events.latest(name, BEGUN, DONE)
    if last is None or last.kind == DONE or backups[0].reason != "undo":
        return None
    return next((backup for backup in backups if backup.ref == last.detail), None)


def _newest_other(site: Site, backups: tuple[Backup, ...], present: Backup | None, name: str) -> Backup:
    """The newest that is not what is there already, as after an undo that was cut short."""
    for backup in backups:
        if present is None or not same_content(site.git, site.root.path, backup, present):
            return backup
    raise LlmcError(f"there is no other backup of {name}", "`llmc undo --list` shows all there are")


def _line(backup: Backup, subject: str) -> str:
    files = f", {len(backup.dirty)} uncommitted files" if backup.dirty else ""
    when = age(time.time() - backup.at_unix)
    task = f"\n    task: {one_line(backup.task, 100)}" if backup.task else ""
    head = f'{backup.head_sha[:12]} "{one_line(subject)}"'
    return f"{backup.ref}  {when} ago, before {backup.reason or 'a change'}: {head}{files}{task}"


def _data(backup: Backup) -> dict[str, object]:
    return {
        "ref": backup.ref,
        "worker": backup.worker,
        "head_sha": backup.head_sha,
        "branch": backup.branch,
        "at_unix": backup.at_unix,
        "reason": backup.reason,
        "dirty": list(backup.dirty),
        "task": backup.task,
        "task_id": backup.task_id or None,
    }
