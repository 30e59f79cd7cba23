"""What is done for one worker each time that something about it may have changed."""

from __future__ import annotations

from enum import Enum

from llmc.care.catch_up import Learned, session_news, work_news
from llmc.care.retries import carry_out, try_again, without_calls
from llmc.care.up_to_date import Rebases, bring_up_to_date
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.effects import MergeWork
from llmc.core.lifecycle.transitions.shared import awaits
from llmc.host.locks import is_held
from llmc.model import Session, Worker
from llmc.observe.reports import has_reports
from llmc.perform.fence_home import bring_back
from llmc.perform.notices import tell
from llmc.perform.steps import settle
from llmc.site import Site
from llmc.store.ledger import UnknownWorkerError

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
        with site.git.operation:
            return _care(site, name, tried, bring_up)
    except UnknownWorkerError:
        return Cared.GONE


def _care(site: Site, name: str, tried: Rebases, bring_up: bool) -> Cared:
    worker = site.worker(name)
    tell(site, *session_news(site, worker, site.pane_of(worker.session_id), while_away=bring_up))
    lock = site.lock_of(name)
    if not lock.try_acquire():
        return Cared.BUSY
    try:
        learned = Learned(site, site.worker(name))
        learned.add(work_news(site, learned.worker, REPORTS_AT_ONCE))
        again = try_again(site, learned.worker)
        tell(site, *(map(without_calls, learned.decisions) if again else learned.decisions))
        if again is not None:
            learned.add([carry_out(site, learned.worker, again)])
        if site.is_fenced(name):
            bring_back(site, name, learned.worker.agent)  # the person's own would be out of date as long as it runs
        if bring_up and learned.worker.session in (Session.DOWN, Session.CRASHED):
            learned.take([ev.StartAsked(site.now())])
        if _waits_for_others(site, learned.worker):
            return Cared.BUSY
        if learned.worker.pending:
            settled = settle(site, name)
            if settled.waits:
                return Cared.WAITS
            if settled.left and settled.refusal is not None:
                raise settled.refusal  # tried again after a while
        bring_up_to_date(site, name, tried)
    finally:
        lock.release()
    return Cared.PARTLY if has_reports(site, name) else Cared.DONE


def _waits_for_others(site: Site, worker: Worker) -> bool:
    """An accept takes its turn, and the checks of the one before it may run for long: nobody else waits with it."""
    return awaits(worker, MergeWork) and is_held(site.root.landing_lock) is not None
