"""What git shows of a worker's branch, as events."""

from __future__ import annotations

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import RebaseWork
from llmc.core.lifecycle.transitions.shared import awaits
from llmc.errors import LlmcError
from llmc.git.clone import UPSTREAM, fetch_source
from llmc.git.history import (
    commits_ahead,
    is_ancestor,
    merge_base,
    merged_elsewhere,
    messages_of,
    own_commits,
    patch_id,
)
from llmc.git.rebase import own_base, rebase_in_progress, unmerged_files
from llmc.git.repository import HEADS, branch_tip, current_branch, operations, resolve
from llmc.git.worktree_identity import foreign_git
from llmc.model import Session, Turn, Work, Worker
from llmc.site import Site
from llmc.values import Value


def upstream_tip(site: Site) -> str | None:
    return resolve(site.git, site.root.path, UPSTREAM + site.config.repo.branch)


def work_ahead(site: Site, worker: Worker) -> str | None:
    """The tip of the worker's branch when it holds work that the branch has not: no commit of it, and no such patch."""
    git, root = site.git, site.root.path
    upstream_name = f"{UPSTREAM}{site.config.repo.branch}^{{commit}}"
    tip, upstream = git.objects(root, f"{HEADS}{worker.branch}^{{commit}}", upstream_name)
    if tip is None or tip == worker.base_sha or not _is_ahead(site, tip, worker.base_sha, upstream):
        return None
    known = tip == worker.commit_sha and worker.work is not Work.NEEDS_REVIEW
    if known or upstream is None or is_ancestor(git, root, upstream, tip):
        return tip
    return None if merged_elsewhere(git, root, tip, upstream) else tip


def _is_ahead(site: Site, tip: str, *known: str | None) -> bool:
    """Whether none of those that are known contains it."""
    return not any(is_ancestor(site.git, site.root.path, tip, sha) for sha in set(known) if sha is not None)


def new_work(site: Site, worker: Worker) -> str | None:
    """As `work_ahead`; work that was sent back and only put onto another base is still the work that was sent back."""
    tip = work_ahead(site, worker)
    if tip is None or worker.rejected_sha in (None, tip):
        return tip
    return worker.rejected_sha if _same_work(site, worker.rejected_sha, tip) else tip


def _same_work(site: Site, one: str, other: str) -> bool:
    """The same changes in the same words, wherever they stand."""
    upstream = upstream_tip(site)
    if upstream is None or resolve(site.git, site.root.path, one) is None:
        return False
    return _account(site, upstream, one) == _account(site, upstream, other)


def _account(site: Site, upstream: str, tip: str) -> tuple[str | None, tuple[str, ...]]:
    git, root = site.git, site.root.path
    base = merge_base(git, root, upstream, tip) or upstream
    return patch_id(git, root, base, tip), messages_of(own_commits(git, root, tip, base))


class Elsewhere(Value):
    sha: str
    where: str


def work_elsewhere(site: Site, worker: Worker) -> Elsewhere | None:
    """Commits of the worktree that its branch does not have: on a detached HEAD, or on a branch of their own."""
    git, worktree = site.git, worker.worktree_path
    branch = current_branch(git, worktree)
    if branch == worker.branch or operations(git, worktree):
        return None  # in the middle of a rebase HEAD is always detached
    head = resolve(git, worktree, "HEAD")
    tip = branch_tip(git, site.root.path, worker.branch)
    if head is None or not _is_ahead(site, head, worker.base_sha, upstream_tip(site), tip):
        return None
    return Elsewhere(head, f"the branch {branch}" if branch else f"a detached HEAD ({head[:12]})")


def work_span(site: Site, worker: Worker) -> tuple[str, str] | None:
    """From where to where the work goes: what it adds to the branch that it will land on. None without work."""
    if worker.commit_sha is None:
        return None
    tip = upstream_tip(site)
    begins = own_base(site.git, site.root.path, tip, worker.commit_sha, worker.base_sha).sha if tip else None
    return begins or worker.base_sha or worker.commit_sha, worker.commit_sha


def branch_events(site: Site, worker: Worker) -> list[ev.Event]:
    foreign = foreign_git(site.host, site.root.path, worker.name) is not None
    if worker.work is Work.REBASING:
        return [] if foreign else _rebase_events(site, worker)
    tip = new_work(site, worker)
    if tip is not None and tip not in (worker.commit_sha, worker.rejected_sha):
        return [ev.CommitSeen(site.now(), tip)]
    if tip is None and worker.work is Work.NEEDS_REVIEW and worker.commit_sha is not None:
        if not _is_gone(site, worker):
            return []
        return [ev.CommitsGone(site.now(), _why_gone(site, worker))]
    if worker.work in (Work.WORKING, Work.REJECTED) and not foreign:
        elsewhere = work_elsewhere(site, worker)
        return [ev.CommitElsewhere(site.now(), elsewhere.sha, elsewhere.where)] if elsewhere else []
    return []


def _is_gone(site: Site, worker: Worker) -> bool:
    """Asked of the user's own repository: what is known of it here may be old."""
    try:
        fetch_source(site.git, site.config.repo.source, site.root.path, site.config.repo.branch)
    except LlmcError:
        return False
    return new_work(site, worker) is None


def _why_gone(site: Site, worker: Worker) -> str:
    tip = branch_tip(site.git, site.root.path, worker.branch)
    if tip == worker.commit_sha:
        return f"{site.config.repo.branch} has its work already; `llmc reset {worker.name}` makes it idle"
    return "its commits are no longer on its branch"


# --- in a rebase ----------------------------------------------------------------------------------------


def _rebase_events(site: Site, worker: Worker) -> list[ev.Event]:
    """Whether a rebase that had stopped for conflicts goes on or is over, and how, by git alone."""
    if awaits(worker, RebaseWork):
        return []
    if worker.rebase_started_at_unix is None:
        return _resolved_before(site, worker)
    if rebase_in_progress(site.git, worker.worktree_path) is not None:
        files = unmerged_files(site.git, worker.worktree_path)
        return [ev.ConflictsChanged(site.now(), files)] if set(files) != set(worker.conflicted_files) else []
    tip = branch_tip(site.git, site.root.path, worker.branch)
    if tip is None or upstream_tip(site) is None or tip == worker.commit_sha:
        left = current_branch(site.git, worker.worktree_path) != worker.branch
        return [ev.RebaseAborted(site.now(), work_ahead(site, worker), quit=left)]
    return [_resolved(site, worker, tip)]


def _resolved_before(site: Site, worker: Worker) -> list[ev.Event]:
    """The agent was to go on after the rebase: with another commit, or not at all when its session ended."""
    tip = branch_tip(site.git, site.root.path, worker.branch)
    ended = worker.session in (Session.DOWN, Session.CRASHED)
    waits = worker.pending or worker.turn is Turn.OPEN
    if tip is None or waits or not (ended or tip != worker.commit_sha):
        return []
    return [_resolved(site, worker, tip)]


def _resolved(site: Site, worker: Worker, tip: str) -> ev.ConflictsResolved:
    git, root = site.git, site.root.path
    onto = upstream_tip(site) or tip
    # The branch may have gone on since the rebase began: what they share is what the work stands on now.
    base = merge_base(git, root, onto, tip) or onto
    before = commits_ahead(git, root, onto, worker.commit_sha) if worker.commit_sha else []
    now = commits_ahead(git, root, onto, tip)
    return ev.ConflictsResolved(site.now(), tip if now else None, base, max(0, len(before) - len(now)))
