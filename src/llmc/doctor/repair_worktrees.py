"""Repairs of worktrees and branches. Every commit and every file is kept: in place, in a backup, or aside."""

from __future__ import annotations

from pathlib import Path

from llmc.core.lifecycle import events as ev
from llmc.core.names import name_problem
from llmc.doctor.means import Means, change_worker
from llmc.doctor.mending import needs_person
from llmc.doctor.rebuild import rebuilt
from llmc.doctor.repairs import Repair
from llmc.errors import LlmcError
from llmc.git.backup import backup_branch, list_backups, make_backup
from llmc.git.clone import UPSTREAM
from llmc.git.repair import leave_operation, make_ours, put_on_branch, restore_branch
from llmc.git.repository import branch_tip, current_branch, resolve
from llmc.git.worktree import delete_branch, find_worktree, remove_worktree, reset_in_place
from llmc.host.processes import end_tree
from llmc.model import Worker
from llmc.perform.branches import forget_files, forget_locks
from llmc.perform.steps import decide_and_run
from llmc.perform.worktrees import restore_worktree
from llmc.site import Site

REASON = "doctor --repair"


def restore_its_branch(means: Means, repair: Repair) -> str:
    site = means.open_site()
    worker = site.worker(repair.worker or "")
    with site.acting_for(worker.name):
        sha = _restore(site, worker.name, worker.branch, worker)
    return f"{worker.branch} is at {sha[:12]}"


def _restore(site: Site, name: str, branch: str, worker: Worker | None) -> str:
    backups = [each.branch_sha for each in list_backups(site.git, site.root.path, name) if each.branch == branch]
    known = (worker.commit_sha, worker.base_sha) if worker is not None else (None, None)
    upstream = resolve(site.git, site.root.path, UPSTREAM + site.config.repo.branch)
    return restore_branch(site.git, site.root.path, name, branch, (known[0], *backups[:1], known[1], upstream))


def make_again(means: Means, repair: Repair) -> str:
    """With its agent in it: one that runs in the directory that was removed sees nothing of the new one."""
    site = means.open_site()
    worker = site.worker(repair.worker or "")
    with site.acting_for(worker.name):
        kept = restore_worktree(site, worker)
        pane = site.tmux.panes().get(worker.session_id)
        if pane is None or pane.dead:
            return f"made {worker.worktree_path}{kept}"
        decide_and_run(site, worker.name, ev.StopAsked(site.now()))
        decide_and_run(site, worker.name, ev.StartAsked(site.now()))
    return f"made {worker.worktree_path} and started its agent in it{kept}"


def connect(means: Means, repair: Repair) -> str:
    site = means.open_site()
    worker = site.worker(repair.worker or "")
    with site.acting_for(worker.name):
        words = make_ours(site.git, site.root.path, worker.name, worker.branch, means.aside)
    return f"{worker.worktree_path} is a worktree of {worker.branch}: {words}"


def leave(means: Means, repair: Repair) -> str:
    site = means.open_site()
    worker = site.worker(repair.worker or "")
    with site.acting_for(worker.name):
        backup = _back_up(site, worker)
        leave_operation(site.git, worker.worktree_path)
        tip = branch_tip(site.git, site.root.path, worker.branch)
        if tip is not None and current_branch(site.git, worker.worktree_path) != worker.branch:
            reset_in_place(site.git, worker.worktree_path, worker.branch, tip)
    return f"what was there is kept in {backup}"


def put_back(means: Means, repair: Repair) -> str:
    site = means.open_site()
    worker = site.worker(repair.worker or "")
    with site.acting_for(worker.name):
        backup = _back_up(site, worker)
        if put_on_branch(site.git, worker.worktree_path, worker.branch):
            return f"{worker.branch} is checked out; what was there is kept in {backup}"
        why = f"commits in its worktree were not on {worker.branch}; they are kept in {backup}"
        change_worker(site, worker.name, lambda worker: needs_person(worker, why, means.now), why)
    return why


def _back_up(site: Site, worker: Worker) -> str:
    made = make_backup(site.git, worker.worktree_path, worker.name, site.now(), branch=worker.branch, reason=REASON)
    if made is None:
        raise LlmcError(f"{worker.name}'s worktree could not be backed up", "nothing was changed")
    return made.ref


# --- what belongs to nobody -------------------------------------------------------------------------


def remove_orphan(means: Means, repair: Repair) -> str:
    site, name = means.open_site(), repair.subject
    with site.acting_for(name):
        words = _remove_orphan(means, site, name)
        backup_branch(site.git, site.root.path, name, site.now(), f"llmc/{name}", REASON)
        delete_branch(site.git, site.root.path, f"llmc/{name}")
        forget_files(site, name)
        forget_locks(site, name)
    return words


def _remove_orphan(means: Means, site: Site, name: str) -> str:
    path = site.root.worktree(name)
    known = find_worktree(site.git, site.root.path, name)
    if known is not None and not known.missing and name_problem(name) is None:
        backup = make_backup(site.git, path, name, site.now(), reason=REASON)
        if backup is not None and not backup.left_out:
            remove_worktree(site.git, site.root.path, name)
            return f"it is kept in {backup.ref}: `llmc add {name}`, then `llmc undo {name}` brings it back"
    words = f"{path} was empty"
    if Path(path).is_dir() and any(Path(path).iterdir()):
        means.host.move(path, f"{means.aside}/{name}")
        words = f"its files are in {means.aside}/{name} now"
    remove_worktree(site.git, site.root.path, name)
    return words


def adopt(means: Means, repair: Repair) -> str:
    """Makes a worker of it again."""
    site, name = means.open_site(), repair.subject
    branch = f"llmc/{name}"
    with site.acting_for(name):
        if branch_tip(site.git, site.root.path, branch) is None:
            _restore(site, name, branch, None)
        known = find_worktree(site.git, site.root.path, name)
        if known is None or known.missing:
            make_ours(site.git, site.root.path, name, branch, means.aside)
        worker = rebuilt(means.find_remains_of(site, name), means.now).worker
        site.ledger.add(worker)
    return f"{name} is a worker again: {worker.status}"


def keep_branch(means: Means, repair: Repair) -> str:
    site, branch = means.open_site(), repair.subject
    name = branch.removeprefix("llmc/")
    backup = backup_branch(site.git, site.root.path, name, site.now(), branch, REASON)
    delete_branch(site.git, site.root.path, branch)
    return f"it is kept in {backup.ref}" if backup is not None else "a backup has it already"


def end_orphaned_session(site: Site, session: str) -> None:
    pane = site.tmux.panes().get(session)
    if pane is not None and not pane.dead:
        end_tree(pane.pid)
    site.tmux.kill_session(session)
