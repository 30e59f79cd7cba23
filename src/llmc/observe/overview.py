"""Everybody at a glance: which workers are not as the state says, by a handful of questions for all of them.

The patrol asks this. Whoever is as expected costs nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from llmc.core.lifecycle.effects import RebaseWork
from llmc.core.lifecycle.patrol import Miss
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.shared import awaits
from llmc.core.lifecycle.transitions.silence import is_silent
from llmc.git.repository import heads
from llmc.host.processes import is_running
from llmc.model import Session, State, Work, Worker
from llmc.observe.branches import upstream_tip
from llmc.observe.reports import has_reports
from llmc.site import Site
from llmc.values import Value


class Glance(Value):
    """What is there now, for all workers at once."""

    now: float
    live_sessions: frozenset[str]
    tips: dict[str, str]
    upstream: str | None
    reported: frozenset[str]
    """Workers whose reports wait in the spool."""
    without_worktree: frozenset[str] = frozenset()


def glance(site: Site, state: State) -> Glance:
    panes = site.tmux.panes()
    live = frozenset(name for name, pane in panes.items() if not pane.dead and is_running(pane.pid))
    reported = frozenset(name for name in state.workers if has_reports(site, name))
    lost = frozenset(name for name, worker in state.workers.items() if not site.host.is_dir(worker.worktree_path))
    return Glance(site.now(), live, heads(site.git, site.root.path), upstream_tip(site), reported, lost)


def unexpected(state: State, seen: Glance, policy_of: Callable[[str], Policy]) -> dict[str, tuple[str, ...]]:
    """The workers that somebody has to look at, and for what."""
    found = {name: tuple(_misses(worker, seen, policy_of(name))) for name, worker in state.workers.items()}
    return {name: misses for name, misses in found.items() if misses}


def _misses(worker: Worker, seen: Glance, policy: Policy) -> Iterator[str]:
    if worker.worktree_lost != (worker.name in seen.without_worktree):
        yield Miss.WORKTREE.value
    if worker.pending:
        yield Miss.PENDING.value
    if (worker.session is Session.UP) != (worker.session_id in seen.live_sessions):
        yield Miss.SESSION.value
    if worker.worktree_lost:
        return  # the rest waits until it is made again
    if worker.name in seen.reported:
        yield Miss.REPORT.value
    if any(due <= seen.now for due in worker.timers.values()):
        yield Miss.TIMER.value
    if is_silent(worker, seen.now, policy):
        yield Miss.STUCK.value
    yield from _branch_misses(worker, seen)


def _branch_misses(worker: Worker, seen: Glance) -> Iterator[str]:
    tip = seen.tips.get(worker.branch)
    if worker.work is Work.REBASING:
        if not awaits(worker, RebaseWork):
            yield Miss.REBASE.value
    elif worker.work is Work.NEEDS_REVIEW:
        if tip != worker.commit_sha:
            yield Miss.BRANCH.value
        if worker.base_sha != seen.upstream:
            yield Miss.REBASE.value
    elif tip not in (worker.base_sha, worker.commit_sha, worker.rejected_sha):
        yield Miss.BRANCH.value
