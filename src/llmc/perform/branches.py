"""Everything that LLMC itself does to a worker's branch and worktree. A backup comes before each loss."""

from __future__ import annotations

from pathlib import Path

from llmc.core import events as ev
from llmc.core.commit_message import clean_message, message_for
from llmc.errors import LlmcError
from llmc.git.backup import backup_branch, make_backup
from llmc.git.clone import fetch_source
from llmc.git.history import commits_ahead, is_ancestor, log_messages
from llmc.git.ignored import copy_ignored
from llmc.git.land import land, squash
from llmc.git.rebase import Clean, Conflicted, abort_rebase, rebase_in_progress, rebase_onto, would_conflict
from llmc.git.repository import branch_tip, current_branch, resolve, status, toplevel
from llmc.git.worktree import delete_branch, remove_worktree, reset_in_place
from llmc.model import Step, Worker
from llmc.perform.conflicts import asked_to_resolve
from llmc.perform.sessions import end_session
from llmc.perform.validation import validate
from llmc.site import Site
from llmc.store.config_file import remove_worker_table

SHOWN_FILES = 5


class NotMergedError(LlmcError):
    """The work cannot be merged as it is; nothing was changed."""


class WouldConflictError(NotMergedError):
    """The work and the branch do not merge by themselves."""


# --- reset ------------------------------------------------------------------------------------------


def reset(site: Site, worker: Worker, step: Step) -> ev.StepResult:
    tip = fetch_source(site.git, site.root.path, site.config.repo.branch)
    make_backup(site.git, worker.worktree_path, worker.name, site.now(), safe_sha=tip, reason="reset")
    reset_in_place(site.git, worker.worktree_path, worker.branch, tip)
    carry_ignored_files(site, worker.worktree_path)
    return ev.WorktreeReset(site.now(), step.id, tip)


def carry_ignored_files(site: Site, worktree: str) -> None:
    source = toplevel(site.git, site.config.repo.source)
    if site.config.repo.copy and source is not None:
        copy_ignored(site.git, source, site.config.repo.copy, worktree)


# --- rebase -----------------------------------------------------------------------------------------


def rebase(site: Site, worker: Worker, step: Step, onto: str) -> ev.StepResult:
    worktree = worker.worktree_path
    if rebase_in_progress(site.git, worktree) is None:
        _require_clean(site, worker, "rebased")
        make_backup(site.git, worktree, worker.name, site.now(), safe_sha=onto, reason="rebase")
        outcome = rebase_onto(site.git, worktree, onto)
        if not isinstance(outcome, Conflicted):
            left = commits_ahead(site.git, worktree, onto, outcome.sha)
            return ev.RebaseClean(site.now(), step.id, outcome.sha if left else None, onto)
    return asked_to_resolve(site, worker, step)


# --- merge ------------------------------------------------------------------------------------------


def merge(site: Site, worker: Worker, step: Step, message: str | None) -> ev.WorkMerged | LlmcError:
    """The work as one commit on the branch in the user's repository, or the reason why not."""
    landed = _landed_before(site, worker) if step.begun else None
    if landed is not None:
        return ev.WorkMerged(site.now(), step.id, landed)
    try:
        _forget_intention(site, worker)
        site.ledger.apply(worker.name, ev.StepBegun(site.now(), step.id))
        return ev.WorkMerged(site.now(), step.id, _merge(site, worker, message))
    except LlmcError as refused:
        return refused


def _intention(worker: Worker) -> str:
    return f"refs/llmc/merging/{worker.name}"


def _landed_before(site: Site, worker: Worker) -> str | None:
    """The commit that an earlier try of this very merge has put on the branch before it was cut short."""
    made = resolve(site.git, site.root.path, _intention(worker))
    if made is None:
        return None
    tip = fetch_source(site.git, site.root.path, site.config.repo.branch)
    return made if is_ancestor(site.git, site.root.path, made, tip) else None


def _forget_intention(site: Site, worker: Worker) -> None:
    site.git.run(site.root.path, "update-ref", "-d", _intention(worker))


def _merge(site: Site, worker: Worker, message: str | None) -> str:
    repo = site.config.repo
    _require_clean(site, worker, "accepted")
    tip = fetch_source(site.git, site.root.path, repo.branch)
    before = branch_tip(site.git, site.root.path, worker.branch)
    if before is None:
        raise NotMergedError(f"the branch {worker.branch} is gone", "run `llmc doctor`")
    head = _bring_up_to_date(site, worker, tip, before)
    try:
        made = _squash(site, worker, tip, head, message)
        land(site.git, repo.source, site.root.path, repo.branch, tip, made)
    except LlmcError:
        _put_back(site, worker, head, before)
        raise
    return made


def _squash(site: Site, worker: Worker, tip: str, head: str, message: str | None) -> str:
    """The one commit, when the repository's own checks agree; from here on the intention is known."""
    validate(site, worker.worktree_path)
    _require_clean(site, worker, "accepted after its validation ran")
    text = clean_message(message) if message else _message(site, worker, tip, head)
    made = squash(site.git, site.root.path, tip, head, text)
    site.git.run(site.root.path, "update-ref", _intention(worker), made)
    return made


def _put_back(site: Site, worker: Worker, head: str, before: str) -> None:
    """A refused merge leaves the branch as it was, unless somebody went on from there."""
    untouched = not status(site.git, worker.worktree_path)
    if head != before and untouched and branch_tip(site.git, site.root.path, worker.branch) == head:
        reset_in_place(site.git, worker.worktree_path, worker.branch, before)


def _bring_up_to_date(site: Site, worker: Worker, tip: str, head: str) -> str:
    worktree = worker.worktree_path
    if not is_ancestor(site.git, worktree, tip, head):
        check = would_conflict(site.git, worktree, tip, head)
        if not isinstance(check, Clean):
            raise WouldConflictError(
                f"{worker.name}'s work conflicts with {site.config.repo.branch} in {_some(check.files)}",
                f"`llmc rebase {worker.name}` lets the agent resolve it",
            )
        make_backup(site.git, worktree, worker.name, site.now(), safe_sha=tip, reason="accept")
        outcome = rebase_onto(site.git, worktree, tip)
        if isinstance(outcome, Conflicted):
            abort_rebase(site.git, worktree)
            raise WouldConflictError(
                f"{worker.name}'s commits conflict one by one with {site.config.repo.branch}",
                f"`llmc rebase {worker.name}` lets the agent resolve it",
            )
        head = outcome.sha
    if not commits_ahead(site.git, worktree, tip, head):
        raise NotMergedError(
            f"{worker.name} has nothing that {site.config.repo.branch} does not have",
            f"`llmc reset {worker.name}` makes it idle",
        )
    return head


def _message(site: Site, worker: Worker, tip: str, head: str) -> str:
    return message_for(list(log_messages(site.git, site.root.path, tip, head)), worker.current_prompt)


def _require_clean(site: Site, worker: Worker, verb: str) -> None:
    if current_branch(site.git, worker.worktree_path) != worker.branch:
        raise NotMergedError(
            f"{worker.name}'s worktree is not on its branch {worker.branch}",
            f"`llmc attach {worker.name}` and check it out, or `llmc doctor --repair`",
        )
    dirty = [entry.path for entry in status(site.git, worker.worktree_path)]
    if dirty:
        raise NotMergedError(
            f"{worker.name} cannot be {verb}: uncommitted changes in {_some(tuple(dirty))}",
            f"let the agent commit them (`llmc message {worker.name} ...`) or remove them",
        )


def _some(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - SHOWN_FILES} more" if len(paths) > SHOWN_FILES else ""
    return ", ".join(paths[:SHOWN_FILES]) + more


# --- remove -----------------------------------------------------------------------------------------


def remove(site: Site, worker: Worker) -> None:
    pane = site.tmux.panes().get(worker.session_id)
    if pane is not None:
        end_session(site, worker, pane, force=True)
    if site.host.is_dir(worker.worktree_path):
        upstream = resolve(site.git, site.root.path, f"refs/remotes/origin/{site.config.repo.branch}")
        make_backup(site.git, worker.worktree_path, worker.name, site.now(), safe_sha=upstream, reason="nuke")
    else:
        backup_branch(site.git, site.root.path, worker.name, site.now(), worker.branch, reason="nuke")
    remove_worktree(site.git, site.root.path, worker.name)
    delete_branch(site.git, site.root.path, worker.branch)
    for directory in (site.root.spool(worker.name), site.root.settings_dir(worker.name)):
        site.host.remove_tree(directory)
    Path(site.root.attention_file(worker.name)).unlink(missing_ok=True)
    remove_worker_table(site.root.config_file, worker.name)
    site.ledger.remove(worker.name, site.now())
