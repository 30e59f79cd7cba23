"""What screens say of the work: of agents that do not report by themselves, and of those that have fallen silent."""

from __future__ import annotations

from llmc.core import events as ev
from llmc.core.lifecycle import Decision
from llmc.core.moves.heard import NOTED_EVERY_SECS
from llmc.core.moves.observed import is_outdated
from llmc.model import Session, Work, Worker
from llmc.observe.readings import Seen
from llmc.site import Site
from llmc.store.ledger import UnknownWorkerError


def silent_workers(site: Site) -> list[str]:
    """Whose agent reports by itself, is at work, and has not said a word for a while: no CLI reports everything."""
    now = site.now()
    return [worker.name for worker in site.ledger.load().workers.values() if _is_quiet(site, worker, now)]


def _is_quiet(site: Site, worker: Worker, now: float) -> bool:
    at_work = worker.work in (Work.WORKING, Work.REJECTED) and worker.session is Session.UP and not worker.pending
    silent = now - worker.last_activity_unix
    return at_work and worker.reports_events and silent >= site.ledger.policy_of(worker.name).quiet_after_secs


def decide_by_screen(site: Site, seen: Seen, told: dict[str, str]) -> Decision | None:
    """`told` has the screen of each worker that was decided by last."""
    try:
        worker = site.worker(seen.subject.name)
    except UnknownWorkerError:
        return None
    at = seen.standing.looked_at
    speaks = worker.session is Session.UP and not worker.reports_events
    if seen.changed:
        return site.ledger.apply(worker.name, ev.ScreenMoved(at)) if speaks and _is_news(worker, at) else None
    if not seen.stable or told.get(worker.name) == seen.standing.digest or not (speaks or _is_quiet(site, worker, at)):
        return None
    reading = seen.reading
    confident = reading.state != "UNKNOWN"
    decision = site.ledger.apply(worker.name, ev.ScreenRead(at, reading.state, reading.detail, confident))
    if not is_outdated(decision.worker, at):
        told[worker.name] = seen.standing.digest
    return decision


def _is_news(worker: Worker, now: float) -> bool:
    """A terminal in which something goes on is a sign of life of an agent that gives no other; noted now and then."""
    return now - worker.last_activity_unix >= NOTED_EVERY_SECS
