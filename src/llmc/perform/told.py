"""What an agent has reported and nobody has dealt with yet: whoever types into its terminal reads along."""

from __future__ import annotations

from llmc.agents.reports import Report, is_of_session
from llmc.model import Turn, Worker
from llmc.site import Site
from llmc.store.spool import peek

TURN_BEGINS = ("prompt", "activity")
TURN_ENDS = ("turn_end", "interrupted", "failure")


def spooled_reports(site: Site, worker: Worker, since: float) -> list[tuple[Report, float]]:
    """What the agent has reported since then in the worker's session, and nobody has dealt with. It stays there."""
    translate, waiting = site.agent_of(worker).translate, peek(site.root.spool(worker.name), since_unix=since)
    read = ((translate(data), at) for data, at in waiting if is_of_session(worker, data, at))
    return [(report, at) for report, at in read if report is not None]


def turn_is_open(turn: Turn, reports: list[Report]) -> bool:
    """By the record, and by what has come in since."""
    moving = [report.kind for report in reports if report.kind in (*TURN_BEGINS, *TURN_ENDS) and not report.background]
    return moving[-1] in TURN_BEGINS if moving else turn is Turn.OPEN
