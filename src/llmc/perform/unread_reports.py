"""What an agent has reported and nobody has dealt with yet: whoever types into its terminal reads along."""

from __future__ import annotations

from llmc.agents.reports import Report, is_of_session, understood
from llmc.model import Turn, Worker
from llmc.site import Site
from llmc.store.spool import peek

TURN_BEGINS = ("prompt", "activity")
TURN_ENDS = ("turn_end", "interrupted", "failure")


def spooled_reports(
    site: Site, worker: Worker, *, since: float = 0.0, besides: frozenset[str] = frozenset()
) -> list[Report]:
    """What the agent has reported since then in the worker's session, and nobody has dealt with. It stays there.

    `besides` are the marks of those that do not count. They tell before from after whatever becomes of the clock.
    """
    waiting = peek(site.root.spool(worker.name), since_unix=since, besides=besides)
    own = (event for event in waiting if is_of_session(worker, event.data, event.at_unix))
    read = (understood(site.agent_of(worker).translate, event.data) for event in own)
    return [report for report in read if report is not None]


def turn_is_open(turn: Turn, reports: list[Report]) -> bool:
    """By the record, and by what has come in since."""
    moving = [report.kind for report in reports if report.kind in (*TURN_BEGINS, *TURN_ENDS) and not report.background]
    return moving[-1] in TURN_BEGINS if moving else turn is Turn.OPEN
