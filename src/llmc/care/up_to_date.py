"""Work that waits for review follows the branch, so that the reviewer sees it as it would land.

One policy, whoever notices that the branch has moved. What merges by itself is rebased. What conflicts is for its
agent to resolve, if that is there to be asked, until it has given up too often: from then on only a person asks.
"""

from __future__ import annotations

from llmc.core.lifecycle import events as ev
from llmc.errors import LlmcError
from llmc.git.history import is_ancestor
from llmc.git.rebase import Clean, own_base, would_conflict
from llmc.git.repository import status
from llmc.git.worktree_identity import foreign_git
from llmc.model import Session, Turn, Work, Worker
from llmc.observe.branches import upstream_tip
from llmc.perform.steps import decide_and_run
from llmc.site import Site

Rebases = dict[str, tuple[str, str]]
"""Which commit of each worker was last rebased unasked, and onto which: a second try would end the same way."""


def bring_all_up_to_date(site: Site) -> list[str]:
    """Everybody whose work waits; what a person should know about it. Whoever is acted for now is left to that one."""
    notes = []
    waiting = [name for name, other in site.ledger.load().workers.items() if other.work is Work.NEEDS_REVIEW]
    for name in waiting:
        lock = site.lock_of(name)
        if not lock.try_acquire():
            continue
        try:
            refusal = bring_up_to_date(site, name)
        except LlmcError as failure:
            refusal = failure
        finally:
            lock.release()
        if refusal is not None:
            notes.append(f"{name} was not brought up to date: {refusal.what}")
    return notes


def bring_up_to_date(site: Site, name: str, tried: Rebases | None = None) -> LlmcError | None:
    """What kept the work from being rebased, if it was to be. The caller acts for the worker."""
    worker = site.worker(name)
    tip = upstream_tip(site) if _waits(worker) else None
    if tip is None or worker.commit_sha is None or is_ancestor(site.git, site.root.path, tip, worker.commit_sha):
        return None
    if site.ledger.tasks.train.has(name):
        return None  # it lands when it is its turn: whatever lands before that, it is stacked on
    wanted = (worker.commit_sha, tip)
    if (tried is not None and tried.get(name) == wanted) or not _may_move(site, worker, tip):
        return None
    if tried is not None:
        tried[name] = wanted
    return decide_and_run(site, name, ev.RebaseAsked(site.now(), tip)).refusal


def _waits(worker: Worker) -> bool:
    at_rest = not worker.pending and worker.turn is not Turn.OPEN and not worker.worktree_lost
    return worker.work is Work.NEEDS_REVIEW and at_rest


def _may_move(site: Site, worker: Worker, tip: str) -> bool:
    if foreign_git(site.host, site.root.path, worker.name) is not None:
        return False  # nothing in its worktree is LLMC's to move
    attempts = worker.resolution_attempts
    gave_up = attempts > 0 and attempts >= site.config.policy.conflict_attempts
    may_ask = worker.session is Session.UP and not gave_up
    return (may_ask or _merges_by_itself(site, worker, tip)) and not status(site.git, worker.worktree_path)


def _merges_by_itself(site: Site, worker: Worker, tip: str) -> bool:
    git, head = site.git, worker.commit_sha or tip
    base = own_base(git, site.root.path, tip, head, worker.base_sha)
    return isinstance(would_conflict(git, worker.worktree_path, tip, head, base), Clean)
