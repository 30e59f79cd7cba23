"""What the daemon does for one worker each time that something about it may have changed."""

from __future__ import annotations

from enum import Enum

from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import MergeWork
from llmc.core.lifecycle.transitions.shared import awaits
from llmc.core.notice import notice_of
from llmc.git.history import is_ancestor
from llmc.git.repository import status
from llmc.git.worktree_identity import foreign_git
from llmc.model import Session, Turn, Work, Worker
from llmc.observe.branches import upstream_tip
from llmc.observe.catch_up import tend_session, tend_work
from llmc.observe.readings import Seen
from llmc.observe.reports import has_reports
from llmc.observe.screens import decide_by_screen, may_say_more
from llmc.perform.notices import call, tell
from llmc.perform.steps import decide_and_run, settle
from llmc.site import Site
from llmc.store.ledger import UnknownWorkerError
from llmc.store.lock import is_held

ASKING = frozenset(("NEEDS_CONFIRMATION", "ERROR"))
"""What is told of a worker's screen; the rest is told of its work."""
Rebases = dict[str, tuple[str, str]]
"""Which commit of each worker was last rebased unasked, and onto which: a second try would end the same way."""


REPORTS_AT_ONCE = 500
"""Then it is somebody else's turn: a flood from one worker keeps nobody waiting."""


class Cared(Enum):
    DONE = "done"
    PARTLY = "more reports wait than were read"
    BUSY = "somebody else acts for this worker now"
    WAITS = "its start waits for a person's answer"
    GONE = "the worker was removed"


def care_for(site: Site, name: str, tried: Rebases, *, bring_up: bool) -> Cared:
    try:
        return _care(site, name, tried, bring_up)
    except UnknownWorkerError:
        return Cared.GONE


def _care(site: Site, name: str, tried: Rebases, bring_up: bool) -> Cared:
    pane = site.pane_of(site.worker(name).session_id)
    tell(site, *tend_session(site, name, pane, while_away=bring_up))
    lock = site.lock_of(name)
    if not lock.try_acquire():
        return Cared.BUSY
    try:
        tell(site, *tend_work(site, name, REPORTS_AT_ONCE))
        if bring_up and site.worker(name).session in (Session.DOWN, Session.CRASHED):
            site.ledger.apply(name, ev.StartAsked(site.now()))
        if _waits_for_others(site, site.worker(name)):
            return Cared.BUSY
        if site.worker(name).pending and settle(site, name).waits:
            return Cared.WAITS
        _keep_up_to_date(site, site.worker(name), tried)
    finally:
        lock.release()
    return Cared.PARTLY if has_reports(site, name) else Cared.DONE


def _waits_for_others(site: Site, worker: Worker) -> bool:
    """An accept takes its turn, and the checks of the one before it may run for long: nobody else waits with it."""
    return awaits(worker, MergeWork) and is_held(site.root.landing_lock) is not None


def act_on_screens(site: Site, seen: list[Seen], told: dict[str, str]) -> set[str]:
    """What screens say of the work of agents that do not report, or that have fallen silent.

    `told` remembers which screen of each worker was acted upon: the same one says nothing new. Answers with those that
    have to be looked at once more.
    """
    outdated = set()
    for each in seen:
        decision = decide_by_screen(site, each, told)
        if decision is None:
            continue
        tell(site, decision)
        if may_say_more(decision.worker, each):
            outdated.add(each.subject.name)
        if each.call is not None and each.call.state in ASKING and not decision.notices:
            call(site, notice_of(each.subject.name, each.call))
    return outdated


def _keep_up_to_date(site: Site, worker: Worker, tried: Rebases) -> None:
    """Work that waits for review follows the branch, so that the reviewer sees it as it would land."""
    if worker.work is not Work.NEEDS_REVIEW or worker.session is not Session.UP or worker.pending:
        return
    if worker.commit_sha is None or worker.turn is Turn.OPEN or worker.worktree_lost:
        return
    tip = upstream_tip(site)
    if tip is None or is_ancestor(site.git, site.root.path, tip, worker.commit_sha):
        return
    if worker.resolution_attempts and worker.resolution_attempts >= site.config.policy.conflict_attempts:
        return  # it gave up as often as that: from here on only a person asks it again
    if foreign_git(site.host, site.root.path, worker.name) is not None:
        return  # nothing in its worktree is LLMC's to move
    wanted = (worker.commit_sha, tip)
    if tried.get(worker.name) != wanted and not status(site.git, worker.worktree_path):
        tried[worker.name] = wanted
        decide_and_run(site, worker.name, ev.RebaseAsked(site.now(), tip))
