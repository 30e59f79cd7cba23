"""Landing by the journal: written down before the user's repository is touched, and settled by whoever comes next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from llmc.core.landing.journal import Landing
from llmc.errors import LlmcError
from llmc.git import land as moving
from llmc.git.land import Landed, Order, prepare
from llmc.git.take_back import HalfLandedError, SettledLanding, settle_landing
from llmc.host.faults import Moment, reached
from llmc.host.locks import FileLock
from llmc.site import Site
from llmc.store.landing_journal import LandingJournal

LANDING = "accepting work"
KIND = "landing"
"""Of what is noted with the workers whose landing was cut short."""


def land(site: Site, order: Order) -> Landed:
    """The caller holds the landing lock. A HalfLandedError alone leaves something to settle."""
    landing = prepare(site.git, order, site.now())
    if isinstance(landing, Landed):
        return landing
    with _journaled(site, landing):
        landed = moving.land(site.git, site.root.path, landing)
        reached(Moment.ACCEPT_MOVED)
    return landed


@contextmanager
def _journaled(site: Site, landing: Landing) -> Iterator[None]:
    """In the journal for as long as nobody can say that it is over, one way or the other."""
    journal = _journal(site)
    journal.add(landing)
    reached(Moment.ACCEPT_JOURNALED)
    try:
        yield
    except HalfLandedError:
        raise
    except LlmcError:
        journal.remove(landing)
        raise
    except BaseException:  # Ctrl-C: git was ended in the middle
        settle_landing(site.git, site.root.path, landing)
        journal.remove(landing)
        raise
    journal.remove(landing)


def settle_landings(site: Site) -> list[tuple[Landing, SettledLanding]]:
    """Finishes or takes back every landing that was cut short. The caller holds the landing lock.

    Raises when one of them stays, unless it is in another repository than work lands in now.
    """
    found: list[tuple[Landing, SettledLanding]] = []
    for landing in _journal(site).read():
        try:
            found.append((landing, _settle(site, landing)))
        except HalfLandedError:
            if landing.source == site.config.repo.source:
                raise
    return found


def _settle(site: Site, landing: Landing) -> SettledLanding:
    settled = settle_landing(site.git, site.root.path, landing)
    _journal(site).remove(landing)
    reached(Moment.TAKEBACK_CLOSED)
    known = site.ledger.load().workers
    for name in landing.workers:
        if name in known:
            site.ledger.note(name, site.now(), KIND, settled_words(landing, settled))
    return settled


def settled_words(landing: Landing, settled: SettledLanding) -> str:
    if settled.landed:
        return f"landing {landing.words} was cut short, but has landed"
    left = f"; your own changes were left: {', '.join(settled.left)}" if settled.left else ""
    return f"landing {landing.words} was cut short and was taken back{left}"


def settle_landings_if_free(site: Site) -> None:
    """As `settle_landings`, unless somebody lands work right now: then it is in their hands. Waits for nobody."""
    if not site.host.exists(site.root.landings):
        return
    lock = FileLock(site.root.landing_lock, name=LANDING)
    if lock.try_acquire():
        try:
            settle_landings(replace(site, git=replace(site.git, patience=0.0)))
        finally:
            lock.release()


def _journal(site: Site) -> LandingJournal:
    return LandingJournal(site.root.landings)
