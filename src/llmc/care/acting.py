"""Acting for one worker: the lock, and the latest facts before anything is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from llmc.care.catch_up import catch_up
from llmc.core.lifecycle.effects import CheckResolution
from llmc.core.lifecycle.transitions.shared import awaits
from llmc.errors import LlmcError
from llmc.git.clone import same_or_fetched
from llmc.model import Session, Turn, Work, Worker
from llmc.perform.fence import has_store
from llmc.perform.fenced_work import take_over
from llmc.perform.steps import settle
from llmc.site import Site

WAIT_SECS = 2.0


@contextmanager
def acting_for(site: Site, name: str, *, looks_only: bool = False) -> Iterator[Worker]:
    """Nobody else acts for the worker meanwhile, and everything that has happened so far is known."""
    site.worker(name)
    if not looks_only and site.host.exists(site.root.landings):
        from llmc.perform.landing import settle_landings_if_free

        with suppress(LlmcError):  # `llmc status` and the doctor tell what is left, and an accept refuses for it
            settle_landings_if_free(site)
    with site.lock_of(name), site.git.operation:
        worker = catch_up(site, name)
        yield worker
        if has_store(site, worker):
            with suppress(LlmcError):  # whoever acts next makes up for it; what was done has its answer
                _tell_inside(site, worker)


def _tell_inside(site: Site, worker: Worker) -> None:
    """What was done to the branch of a fenced worker is known in its fence before anybody else acts."""
    if worker.name in site.ledger.load().workers:
        take_over(site, worker)


def catch_up_if_free(site: Site, name: str, *, finish: bool = False) -> None:
    """As `catch_up`, unless somebody acts for the worker: then it is theirs to notice."""
    lock = site.lock_of(name)
    if lock.try_acquire():
        try:
            catch_up(site, name)
            if finish:
                finish_checks(site, name)
        finally:
            lock.release()


def finish_checks(site: Site, name: str) -> None:
    """Work whose conflicts are resolved is checked before anybody sees it; without a daemon that is for us to do."""
    if awaits(site.worker(name), CheckResolution):
        settle(site, name)


def newest_tip(site: Site) -> str:
    """The branch as the user's repository has it. Fetched before anything begins that would fail without it."""
    return same_or_fetched(site.git, site.config.repo.source, site.root.path, site.config.repo.branch)


def wait_until_settled(site: Site, name: str) -> Worker:
    """Until the worker has finished or needs somebody. Works with and without a daemon."""
    from llmc.host.watch import open_watch, wait_for_change

    watch = open_watch()
    watch.add(site.root.path, "state", frozenset(("state.json",)))
    watch.add(site.root.spool(name), "spool")
    try:
        while True:
            catch_up_if_free(site, name, finish=True)
            worker = site.worker(name)
            at_work = worker.work in (Work.WORKING, Work.REJECTED, Work.REBASING)
            talks = worker.work is Work.IDLE and worker.turn is Turn.OPEN  # about a message that is no task
            busy = (at_work or talks) and worker.session is Session.UP
            if not busy and not worker.pending:
                return worker
            wait_for_change(watch, WAIT_SECS)
    finally:
        watch.close()
