"""What screens say of the work, taken into the record: of agents that do not report, or have left something unsaid."""

from __future__ import annotations

from llmc.agents.reports import Report
from llmc.care.attention import keep_report
from llmc.core.lifecycle import events as ev
from llmc.core.lifecycle.table import Decision
from llmc.core.notice import notice_of
from llmc.observe.readings import Observation
from llmc.observe.screens import may_say_more, screen_event
from llmc.perform.notices import call, tell
from llmc.site import Site
from llmc.store.ledger import UnknownWorkerError

ASKING = frozenset(("NEEDS_CONFIRMATION", "ERROR"))
"""What is told of a worker's screen; the rest is told of its work."""


def act_on_screens(site: Site, seen: list[Observation], told: dict[str, str]) -> set[str]:
    """`told` remembers which screen of each worker was acted upon: the same one says nothing new.

    Answers with those that have to be looked at once more.
    """
    outdated = set()
    for each in seen:
        decision = _decide(site, each, told)
        if decision is None:
            continue
        tell(site, decision)
        if may_say_more(decision.worker, each):
            outdated.add(each.subject.name)
        if each.called and each.status["state"] in ASKING and not decision.notices:
            call(site, notice_of(each.subject.name, each.status))
    return outdated


def _decide(site: Site, seen: Observation, told: dict[str, str]) -> Decision | None:
    try:
        worker = site.worker(seen.subject.name)
    except UnknownWorkerError:
        return None
    event = screen_event(site, worker, seen, told.get(worker.name))
    if event is None:
        return None
    decision = site.ledger.apply(worker.name, event)
    if isinstance(event, ev.TurnInterrupted) and decision.changed:
        keep_report(site.root.attention_file(worker.name), Report("interrupted"), event.at)
    if not isinstance(event, ev.ScreenMoved) and (decision.changed or not may_say_more(decision.worker, seen)):
        told[worker.name] = seen.status["last_snapshot_hash"]
    return decision
