"""What the daemon does for one worker each time that something about it may have changed."""

from __future__ import annotations

from enum import Enum

from llmc.core import events as ev
from llmc.core.lifecycle import Decision
from llmc.model import Session
from llmc.observe.screens import ScreenLooks
from llmc.observe.tending import tend_session, tend_work
from llmc.observe.terminals import look_at_panes
from llmc.perform.notices import tell
from llmc.perform.settle import settle
from llmc.site import Site
from llmc.store.ledger import UnknownWorkerError


class Cared(Enum):
    DONE = "done"
    BUSY = "somebody else acts for this worker now"
    GONE = "the worker was removed"


def care_for(site: Site, name: str, looks: ScreenLooks, *, bring_up: bool) -> Cared:
    try:
        return _care(site, name, looks, bring_up)
    except UnknownWorkerError:
        return Cared.GONE


def _care(site: Site, name: str, looks: ScreenLooks, bring_up: bool) -> Cared:
    _tell_all(site, tend_session(site, name, look_at_panes(site)))
    lock = site.lock_of(name)
    if not lock.try_acquire():
        return Cared.BUSY
    try:
        _tell_all(site, tend_work(site, name))
        _tell_all(site, looks.look(site, name))
        if bring_up and site.worker(name).session in (Session.DOWN, Session.CRASHED):
            site.ledger.apply(name, ev.StartAsked(site.now()))
        if site.worker(name).pending:
            settle(site, name)
    finally:
        lock.release()
    return Cared.DONE


def _tell_all(site: Site, decisions: list[Decision]) -> None:
    for decision in decisions:
        tell(site, decision)
