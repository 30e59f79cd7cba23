"""What git shows of a worker's branch, as events."""

from __future__ import annotations

from llmc.core import events as ev
from llmc.core.effects import RebaseWork
from llmc.core.moves.change import awaits
from llmc.git.history import merge_base
from llmc.git.rebase import rebase_in_progress
from llmc.git.repository import branch_tip, resolve
from llmc.model import Work, Worker
from llmc.site import Site


def upstream_tip(site: Site) -> str | None:
    return resolve(site.git, site.root.path, f"refs/remotes/origin/{site.config.repo.branch}")


def work_ahead(site: Site, worker: Worker) -> str | None:
    """The tip of the worker's branch when it holds commits that neither its base nor the branch has."""
    tip = branch_tip(site.git, site.root.path, worker.branch)
    if tip is None or tip == worker.base_sha:
        return None
    known = [f"^{sha}" for sha in (worker.base_sha, upstream_tip(site)) if sha is not None]
    ahead = site.git.text(site.root.path, "rev-list", "--max-count=1", tip, *known)
    return tip if ahead else None


def work_span(site: Site, worker: Worker) -> tuple[str, str] | None:
    """From where to where the work goes: what it adds to the branch that it will land on. None without work."""
    if worker.commit_sha is None:
        return None
    tip = upstream_tip(site)
    shared = merge_base(site.git, site.root.path, tip, worker.commit_sha) if tip is not None else None
    return shared or worker.base_sha or worker.commit_sha, worker.commit_sha


def branch_events(site: Site, worker: Worker) -> list[ev.Event]:
    if worker.work is Work.REBASING:
        return _rebase_events(site, worker)
    tip = work_ahead(site, worker)
    if tip is not None and tip not in (worker.commit_sha, worker.rejected_sha):
        return [ev.CommitSeen(site.now(), tip)]
    if tip is None and worker.work is Work.NEEDS_REVIEW and worker.commit_sha is not None:
        return [ev.CommitsGone(site.now(), "its commits are no longer ahead of the branch")]
    return []


def _rebase_events(site: Site, worker: Worker) -> list[ev.Event]:
    """Whether a rebase that had stopped for conflicts is over, and how, by git alone."""
    if awaits(worker, RebaseWork) or worker.rebase_started_at_unix is None:
        return []
    if rebase_in_progress(site.git, worker.worktree_path) is not None:
        return []
    tip = branch_tip(site.git, site.root.path, worker.branch)
    onto = upstream_tip(site)
    if tip is None or onto is None or tip == worker.commit_sha:
        return [ev.RebaseAborted(site.now(), work_ahead(site, worker))]
    # The branch may have gone on since the rebase began: what they share is what the work stands on now.
    base = merge_base(site.git, site.root.path, onto, tip)
    return [ev.ConflictsResolved(site.now(), tip, base or onto)]
