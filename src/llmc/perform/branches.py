"""Everything that LLMC itself does to a worker's branch and worktree. A backup comes before each loss."""

from __future__ import annotations

import os
from dataclasses import replace

from llmc.core.landing.plan import unclean
from llmc.core.lifecycle import events as ev
from llmc.errors import LlmcError
from llmc.git.backup import backup_branch, backup_commit, is_backed_up, make_backup
from llmc.git.clone import fetch_source, peek_source
from llmc.git.hidden import whole_status
from llmc.git.own_view import submodules_of
from llmc.git.parse import WorktreeStatus
from llmc.git.rebase import Conflicted, Rebased, rebase_in_progress, rebase_onto
from llmc.git.repository import branch_tip, forget_refs, resolve
from llmc.git.since_review import keep_commented, reviewed_ref
from llmc.git.worktree import delete_branch, head_log, remove_worktree, reset_in_place
from llmc.git.worktree_identity import require_ours
from llmc.host.faults import Moment, reached
from llmc.host.files import is_own_directory
from llmc.model import Step, Worker
from llmc.perform.worktrees import carry_ignored_files, make_it_ours, put_file_aside, update_submodules
from llmc.site import Site


class NotRebasedError(LlmcError):
    """The work cannot be rebased as it is; nothing was changed."""


def _keep_if_late(site: Site, worker: Worker, sha: str | None, known: tuple[str | None, ...], reason: str) -> None:
    """A commit that git found there, but that somebody made after the backup, gets one of its own."""
    if sha is not None and sha not in known and not is_backed_up(site.git, site.root.path, worker.name, sha):
        backup_commit(site.git, site.root.path, worker.name, site.now(), worker.branch, sha, reason)


def _back_up(
    site: Site, worker: Worker, reason: str, safe_sha: str | None = None, seen: WorktreeStatus | None = None
) -> None:
    """With the task that the work was made for."""
    about = (site.git, worker.worktree_path, worker.name, site.now())
    task, number = worker.current_prompt, worker.task
    make_backup(*about, safe_sha=safe_sha, reason=reason, task=task, task_id=number, seen=seen)


# --- reset ------------------------------------------------------------------------------------------


def reset(site: Site, worker: Worker, step: Step, tip: str | None = None) -> ev.StepResult:
    tip = tip or fetch_source(site.git, site.config.repo.source, site.root.path, site.config.repo.branch)
    make_it_ours(site, worker)
    moves, seen = head_log(site.git, worker.worktree_path), whole_status(site.git, worker.worktree_path)
    # The reset at the beginning of a task drops what was there before it: the text in the record is not about that.
    task, number = (worker.current_prompt, worker.task) if step.args.get("drops_task") else ("", "")
    place, now = worker.worktree_path, site.now()
    make_backup(site.git, place, worker.name, now, safe_sha=tip, reason="reset", task=task, task_id=number, seen=seen)
    reached(Moment.RESET_BACKED_UP)
    reset_in_place(site.git, worker.worktree_path, worker.branch, tip, seen)
    for sha in head_log(site.git, worker.worktree_path)[len(moves) :]:
        _keep_if_late(site, worker, sha, (seen.head, tip), "reset")
    reached(Moment.RESET_CLEANED)
    carry_ignored_files(site, worker.worktree_path)
    if worker.set_up:
        update_submodules(site, worker.name)
    return ev.WorktreeReset(site.now(), step.id, tip)


# --- rebase -----------------------------------------------------------------------------------------


def rebase(site: Site, worker: Worker, step: Step, onto: str) -> ev.StepResult:
    worktree = worker.worktree_path
    require_ours(site.host, site.root.path, worker.name)
    progress, joined = rebase_in_progress(site.git, worktree), False
    if progress is not None and progress.current is None and _take_back(site, worker):
        progress = None
    if progress is None:
        seen = _require_clean(site, worker)
        _back_up(site, worker, "rebase", onto, seen)
        reached(Moment.REBASE_BACKED_UP)
        outcome = rebase_onto(site.git, worktree, onto, worker.base_sha, worker.current_prompt)
        before = outcome.before if isinstance(outcome, Rebased) else resolve(site.git, worktree, "ORIG_HEAD")
        _keep_if_late(site, worker, before, (seen.head, onto), "rebase")
        reached(Moment.REBASE_MOVED)
        if not isinstance(outcome, Conflicted):
            _follow_with_submodules(site, worker)
            left = outcome.sha if outcome.sha != onto else None
            return ev.RebaseClean(site.now(), step.id, left, onto, outcome.joined)
        joined = outcome.joined
    from llmc.perform.conflicts import asked_to_resolve  # all that it takes to talk to an agent

    return replace(asked_to_resolve(site, worker, step), joined=joined)


def _follow_with_submodules(site: Site, worker: Worker) -> None:
    """They would count as changes of the worker's. The rebase has happened, whatever becomes of them."""
    try:
        if worker.set_up:
            update_submodules(site, worker.name)
    except LlmcError as failed:
        site.ledger.note(worker.name, site.now(), "submodules", f"they are not up to date: {failed.what}")


def _take_back(site: Site, worker: Worker) -> bool:
    """A rebase that has stopped at no commit was killed on its way; the branch is moved last."""
    tip = branch_tip(site.git, site.root.path, worker.branch)
    if tip is None:
        return False
    _back_up(site, worker, "rebase")
    reset_in_place(site.git, worker.worktree_path, worker.branch, tip)
    return True


def _require_clean(site: Site, worker: Worker) -> WorktreeStatus:
    seen = whole_status(site.git, worker.worktree_path)
    dirty = tuple(entry.path for entry in seen.entries)
    obstacle = unclean(worker.name, worker.branch, seen.branch, dirty, "rebased")
    if obstacle is not None:
        raise NotRebasedError(obstacle.what, obstacle.hint)
    return seen


# --- remove -----------------------------------------------------------------------------------------


def remove(site: Site, worker: Worker, tip: str | None) -> None:
    from llmc.perform.accept import accept_refs
    from llmc.perform.sessions import end_session, end_strays

    pane = site.tmux.panes().get(worker.session_id)
    if pane is not None:
        end_session(site, worker, pane, force=True)
    end_strays(site, worker.name)
    reached(Moment.NUKE_STOPPED)
    if site.host.is_dir(worker.worktree_path) and site.host.read_link(worker.worktree_path) is None:
        make_it_ours(site, worker)
        landed = _landed(site, tip)
        _back_up(site, worker, "nuke", landed)
    else:
        put_file_aside(site, worker)
        backup_branch(site.git, site.root.path, worker.name, site.now(), worker.branch, "nuke", worker.current_prompt)
    reached(Moment.NUKE_BACKED_UP)
    remove_worktree(site.git, site.root.path, worker.name)
    reached(Moment.NUKE_WORKTREE_REMOVED)
    delete_branch(site.git, site.root.path, worker.branch)
    forget_refs(site.git, site.root.path, *accept_refs(worker), reviewed_ref(worker.name))
    keep_commented(site.git, site.root.path, worker.name, ())
    reached(Moment.NUKE_BRANCH_DELETED)
    from llmc.perform.metering import count_last  # what counts tokens is slow to load

    count_last(site, worker)
    forget_files(site, worker.name)
    reached(Moment.NUKE_FILES_REMOVED)
    from llmc.store.config_file import remove_worker_table  # what it needs to edit TOML is slow to load

    remove_worker_table(site.root.config_file, worker.name)
    reached(Moment.NUKE_FORGOTTEN)
    site.ledger.remove(worker.name, site.now())
    forget_locks(site, worker.name)


def _landed(site: Site, tip: str | None) -> str | None:
    """What the user's own repository has, as it says itself: an agent can move the clone's name for it."""
    source, branch = site.config.repo.source, site.config.repo.branch
    try:
        same = tip is not None and branch_tip(site.git, source, branch) == tip
        return tip if same else peek_source(site.git, source, site.root.path, branch)
    except LlmcError:
        return None


def forget_files(site: Site, name: str) -> None:
    """What is kept while a worker lives."""
    root = site.root
    own = (root.spool(name), root.settings_dir(name), root.attention_file(name), root.terminal(name), root.fence(name))
    for path in (*own, root.checks_file(name), submodules_of(root.path, name)):
        if is_own_directory(os.path.dirname(path)):  # through a link it would be somebody else's
            site.host.remove_tree(path)


def forget_locks(site: Site, name: str) -> None:
    """The last thing: whoever waits for one of them notices that it is gone."""
    for path in (site.root.pane_lock(name), site.root.worker_lock(name)):
        if is_own_directory(os.path.dirname(path)):
            site.host.remove_tree(path)
