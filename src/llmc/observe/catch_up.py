"""Looking after one worker: everything that can be learned about it now becomes events.

Signals only say whom to look at. What is there is read anew each time, so that a signal that comes
twice, late or never changes nothing about the result.
"""

from __future__ import annotations

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.table import Decision
from llmc.core.lifecycle.transitions.silence import is_silent
from llmc.model import Worker
from llmc.observe.branches import branch_events
from llmc.observe.reports import MOST, tend_reports
from llmc.observe.sessions import finds, losses
from llmc.site import Site
from llmc.tmux.parsing import Pane


def tend_session(site: Site, name: str, pane: Pane | None, *, while_away: bool = False) -> list[Decision]:
    """Whether the terminal is lost. Needs no lock: it is told even while somebody acts for the worker."""
    return _apply_all(site, name, losses(site, site.worker(name), pane, while_away=while_away))


def tend_work(site: Site, name: str, most_reports: int = MOST) -> list[Decision]:
    """A session that was found, the agent's reports, the branch, the timers. The caller holds the worker's lock."""
    decisions = _apply_all(site, name, finds(site, site.worker(name)))
    decisions += _apply_all(site, name, worktree_events(site, site.worker(name)))
    if site.worker(name).worktree_lost:
        return decisions  # git has nothing to say of it, and what a report means is for git to say
    decisions += tend_reports(site, name, most_reports)
    decisions += _apply_all(site, name, branch_events(site, site.worker(name)))
    decisions += _apply_all(site, name, due_timers(site, name))
    decisions += _apply_all(site, name, silence(site, name))
    return decisions


def worktree_events(site: Site, worker: Worker) -> list[ev.Event]:
    lost = not site.host.is_dir(worker.worktree_path)
    if lost == worker.worktree_lost:
        return []
    return [ev.WorktreeLost(site.now()) if lost else ev.WorktreeFound(site.now())]


def due_timers(site: Site, name: str) -> list[ev.Event]:
    """In their order: what one of them leads to may put off the next."""
    now, timers = site.now(), site.worker(name).timers
    return [ev.Woke(now, timer) for timer in sorted(timers, key=lambda timer: timers[timer]) if timers[timer] <= now]


def silence(site: Site, name: str) -> list[ev.Event]:
    now, worker = site.now(), site.worker(name)
    if not is_silent(worker, now, site.ledger.policy_of(name)):
        return []
    return [ev.SilenceLasted(now, may_be_asked=site.agent_of(worker).takes_prose)]


def _apply_all(site: Site, name: str, events: list[ev.Event]) -> list[Decision]:
    return [site.ledger.apply(name, event) for event in events]
