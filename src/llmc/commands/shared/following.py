"""Work that waits for review follows the branch, also where no daemon runs that would see to it."""

from __future__ import annotations

from llmc.core.lifecycle import events as ev
from llmc.daemon.process import running_daemon
from llmc.errors import LlmcError
from llmc.git.history import is_ancestor
from llmc.git.rebase import Clean, own_base, would_conflict
from llmc.git.repository import status
from llmc.model import Turn, Work, Worker
from llmc.observe.branches import upstream_tip
from llmc.perform.steps import decide_and_run
from llmc.site import Site


def bring_others_up_to_date(site: Site) -> list[str]:
    """What a person should know about it. Whatever goes wrong, the accepted work is merged."""
    tip = upstream_tip(site)
    if tip is None or running_daemon(site.root) is not None:
        return []
    waiting = [name for name, other in site.ledger.load().workers.items() if other.work is Work.NEEDS_REVIEW]
    notes = []
    for name in waiting:
        try:
            _bring_up_to_date(site, name, tip)
        except LlmcError as failure:
            notes.append(f"{name} was not brought up to date: {failure.what}")
    return notes


def _bring_up_to_date(site: Site, name: str, tip: str) -> None:
    lock = site.lock_of(name)
    if not lock.try_acquire():
        return  # whoever acts for it now brings it up to date, if that is to be done
    try:
        worker = site.worker(name)
        if _may_move(site, worker) and _merges_by_itself(site, worker, tip):
            settled = decide_and_run(site, name, ev.RebaseAsked(site.now(), tip))
            if settled.refusal is not None:
                raise settled.refusal
    finally:
        lock.release()


def _may_move(site: Site, worker: Worker) -> bool:
    if worker.work is not Work.NEEDS_REVIEW or worker.pending or worker.turn is Turn.OPEN:
        return False
    return not status(site.git, worker.worktree_path)


def _merges_by_itself(site: Site, worker: Worker, tip: str) -> bool:
    """Conflicts wait until somebody reviews the work: they are for its agent."""
    git, head = site.git, worker.commit_sha
    if head is None or is_ancestor(git, site.root.path, tip, head):
        return False
    base = own_base(git, site.root.path, tip, head, worker.base_sha)
    return isinstance(would_conflict(git, worker.worktree_path, tip, head, base), Clean)
