"""Worktrees: what is carried into them, and making it again when somebody has removed it."""

from __future__ import annotations

from llmc.core.lifecycle.setup_events import WorktreeReplaced
from llmc.git.backup import backup_commit
from llmc.git.history import is_ancestor
from llmc.git.ignored import INCLUDE_FILE, copy_ignored
from llmc.git.own_view import place_of
from llmc.git.repair import make_ours, make_worktree_again
from llmc.git.repository import branch_tip, resolve
from llmc.git.worktree import find_worktree
from llmc.host.files import disk_errors
from llmc.model import Worker
from llmc.site import Site

REASON = "its worktree was gone"


def carry_ignored_files(site: Site, worktree: str) -> None:
    repo = site.config.repo
    if repo.copy or site.host.exists(f"{repo.source}/{INCLUDE_FILE}"):
        copy_ignored(site.git, repo.source, repo.copy, worktree)


def needs_setup(site: Site, worker: Worker) -> bool:
    """What makes a new worktree ready has not succeeded in this one yet."""
    return not worker.set_up and bool(site.config.repo.setup or site.config.repo.submodules)


def update_submodules(site: Site, name: str) -> None:
    """Of a worker's worktree, or by its number of a scratch one."""
    if site.config.repo.submodules:
        from llmc.git.submodules import fill_submodules  # few repositories have any

        with disk_errors(place_of(site.root.path, name)):
            aside = site.root.aside(site.now())
            fill_submodules(site.git, site.config.repo.source, site.root.path, name, aside)


def make_it_ours(site: Site, worker: Worker) -> None:
    """Before its files are kept and dropped. What somebody else's git left there is put aside, and the person told."""
    words = make_ours(site.git, site.root.path, worker.name, worker.branch, site.root.aside(site.now()))
    if words:
        site.ledger.note(worker.name, site.now(), "worktree.foreign", words)


def put_file_aside(site: Site, worker: Worker) -> str:
    """A file where the worktree was is no worktree, and yet somebody's. Where it is now, in words."""
    path, kept = worker.worktree_path, f"{site.root.aside(site.now())}/{worker.name}"
    if not site.host.exists(path) or site.host.is_dir(path) or site.host.read_link(path) is not None:
        return ""
    site.host.move(path, kept)
    words = f"a file was in place of its worktree, and is kept in {kept}"
    site.ledger.note(worker.name, site.now(), "worktree.foreign", words)
    return f"; {words}"


def restore_worktree(site: Site, worker: Worker) -> str:
    """Makes it again from the branch. What is kept elsewhere of it, in words. The caller acts for the worker."""
    if site.host.is_dir(worker.worktree_path):
        return "; it was there again already"  # by somebody who was quicker, and with what was done there since
    kept = put_file_aside(site, worker) + _keep_head(site, worker.name, worker.branch)
    site.ledger.apply(worker.name, WorktreeReplaced(site.now()))
    make_worktree_again(site.git, site.root.path, worker.name, worker.branch)
    carry_ignored_files(site, worker.worktree_path)
    return kept


def _keep_head(site: Site, name: str, branch: str) -> str:
    """Where HEAD of a lost worktree had commits that are on no branch."""
    known, tip = find_worktree(site.git, site.root.path, name), branch_tip(site.git, site.root.path, branch)
    head = resolve(site.git, site.root.path, known.head) if known is not None and known.head else None
    if head is None or (tip is not None and is_ancestor(site.git, site.root.path, head, tip)):
        return ""
    backup = backup_commit(site.git, site.root.path, name, site.now(), branch, head, REASON)
    return f"; the commits that were on no branch are kept in {backup.ref}"
