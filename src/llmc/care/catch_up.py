"""Everything that can be learned about one worker now, taken into its record.

Signals only say whom to look at. What is there is read anew each time, so that a signal that comes twice, late or
never changes nothing about the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from llmc.care.reports import MOST, take_reports
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.table import Decision
from llmc.core.lifecycle.transitions.silence import is_silent
from llmc.model import Worker
from llmc.observe.branches import branch_events
from llmc.observe.sessions import finds, losses
from llmc.perform.fenced_work import take_over
from llmc.perform.notices import tell
from llmc.site import Site
from llmc.tmux.parsing import Pane

LOOKS = 5
"""Whoever makes commits faster than they are looked at is looked at again for the next."""


@dataclass(slots=True)
class Learned:
    """The worker as it is known so far, and what was decided on the way."""

    site: Site
    worker: Worker
    decisions: list[Decision] = field(default_factory=list)

    def take(self, events: Iterable[ev.Event]) -> None:
        self.add(self.site.ledger.apply(self.worker.name, event) for event in events)

    def add(self, decisions: Iterable[Decision]) -> None:
        for decision in decisions:
            self.decisions.append(decision)
            self.worker = decision.worker


def catch_up(site: Site, name: str) -> Worker:
    """The worker after all that has happened so far, and the person told of it. The caller holds its lock."""
    learned = Learned(site, site.worker(name))
    pane = site.pane_of(learned.worker.session_id)
    learned.add(session_news(site, learned.worker, pane))
    learned.add(work_news(site, learned.worker, pane_of=lambda _: pane))
    tell(site, *learned.decisions)
    return learned.worker


def session_news(site: Site, worker: Worker, pane: Pane | None, *, while_away: bool = False) -> list[Decision]:
    """Whether the terminal is lost. Needs no lock: it is told even while somebody acts for the worker."""
    learned = Learned(site, worker)
    learned.take(losses(site, worker, pane, while_away=while_away))
    return learned.decisions


def work_news(
    site: Site, worker: Worker, most_reports: int = MOST, pane_of: Callable[[str], Pane | None] | None = None
) -> list[Decision]:
    """A session that was found, the agent's reports, the branch, the timers. The caller holds the worker's lock."""
    learned = Learned(site, worker)
    learned.take(finds(site, worker, pane_of or site.tmux.pane_of))
    learned.take(_worktree(site, learned.worker))
    if learned.worker.worktree_lost:
        return learned.decisions  # git has nothing to say of it, and what a report means is for git to say
    learned.add(take_reports(site, learned.worker, most_reports))
    learned.take(_branch(site, learned.worker))
    learned.take(_due_timers(site, learned.worker))
    learned.take(_silence(site, learned.worker))
    return learned.decisions


def _worktree(site: Site, worker: Worker) -> list[ev.Event]:
    lost = not site.host.is_dir(worker.worktree_path)
    if lost == worker.worktree_lost:
        return []
    return [ev.WorktreeLost(site.now()) if lost else ev.WorktreeFound(site.now())]


def _branch(site: Site, worker: Worker) -> list[ev.Event]:
    """Of a fenced worker, whose branch LLMC brings out itself, a look counts only if nothing was new after it.

    Else a rebase that ends in between would look like one that was given up.
    """
    take_over(site, worker)
    events = branch_events(site, worker)
    for _ in range(LOOKS):
        if not take_over(site, worker):
            break
        events = branch_events(site, worker)
    return events


def _due_timers(site: Site, worker: Worker) -> list[ev.Event]:
    """In their order: what one of them leads to may put off the next."""
    now, timers = site.now(), worker.timers
    return [ev.Woke(now, timer) for timer in sorted(timers, key=lambda timer: timers[timer]) if timers[timer] <= now]


def _silence(site: Site, worker: Worker) -> list[ev.Event]:
    now = site.now()
    if not is_silent(worker, now, site.ledger.policy_of(worker.name)):
        return []
    return [ev.SilenceLasted(now, may_be_asked=site.agent_of(worker).takes_prose)]
