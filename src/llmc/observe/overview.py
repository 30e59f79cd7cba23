"""Everybody at a glance: which workers are not as the state says, by a handful of questions for all of them.

The patrol asks this. Whoever is as expected costs nothing more.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from llmc.core.effects import RebaseWork
from llmc.core.moves.change import awaits
from llmc.git.repository import heads
from llmc.host.processes import is_running
from llmc.model import Session, State, Work, Worker
from llmc.observe.branches import upstream_tip
from llmc.site import Site
from llmc.tmux.parsing import Pane


@dataclass(frozen=True, slots=True)
class Glance:
    """What is there now, for all workers at once."""

    now: float
    live_sessions: frozenset[str]
    tips: dict[str, str]
    upstream: str | None
    reported: frozenset[str]
    """Workers whose reports wait in the spool."""


def glance(site: Site, state: State) -> Glance:
    panes = site.tmux.panes()
    live = frozenset(name for name, pane in panes.items() if _is_live(pane))
    reported = frozenset(name for name in state.workers if _has_reports(site.root.spool(name)))
    return Glance(site.now(), live, heads(site.git, site.root.path), upstream_tip(site), reported)


def _is_live(pane: Pane) -> bool:
    return not pane.dead and is_running(pane.pid)


def _has_reports(spool: str) -> bool:
    try:
        with os.scandir(spool) as entries:
            return any(entry.name.endswith(".json") for entry in entries)
    except FileNotFoundError:
        return False


def unexpected(state: State, seen: Glance) -> set[str]:
    """The workers that somebody has to look at."""
    return {name for name, worker in state.workers.items() if not _as_expected(worker, seen)}


def _as_expected(worker: Worker, seen: Glance) -> bool:
    if worker.pending or worker.name in seen.reported or any(due <= seen.now for due in worker.timers.values()):
        return False
    return _session_as_expected(worker, seen) and _branch_as_expected(worker, seen)


def _session_as_expected(worker: Worker, seen: Glance) -> bool:
    return (worker.session is Session.UP) == (worker.session_id in seen.live_sessions)


def _branch_as_expected(worker: Worker, seen: Glance) -> bool:
    tip = seen.tips.get(worker.branch)
    if worker.work is Work.REBASING:
        return awaits(worker, RebaseWork)
    if worker.work is Work.NEEDS_REVIEW:
        return tip == worker.commit_sha and worker.base_sha == seen.upstream
    return tip in (worker.base_sha, worker.commit_sha, worker.rejected_sha)
