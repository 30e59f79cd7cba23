"""The agent's own reports: read, kept, and only then taken out of the spool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llmc.core.lifecycle.table import Decision
from llmc.model import Worker
from llmc.perform.fenced_work import take_over
from llmc.site import Site
from llmc.store.spool import SpooledEvent, pending, take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from llmc.observe.watched_terminal import Subject

BATCH = 200
"""So many reports are kept by one save of the state."""
SORTED_AT_ONCE = 1000
"""Each look into the spool sorts all that is there: a flood must not be sorted anew for every batch."""
MOST = 2_000
"""A flood of reports must not keep anybody from everything else."""


def take_reports(site: Site, worker: Worker, most: int = MOST) -> list[Decision]:
    """What the agent has reported, oldest first, `most` of it or a little more. The caller holds the worker's lock.

    Files stay in the spool until what they say is kept. Whoever was ended in between has left files whose reports are
    in the record already.
    """
    decisions: list[Decision] = []
    for batch in _batches(site.root.spool(worker.name), most):
        from llmc.care.attention import keep_report, telling  # slow to load, and mostly there is no report
        from llmc.observe.reports import hear

        take_over(site, worker)  # after the reports were read: what was done before them is in the clone now
        heard = hear(site, worker, batch)
        if (last := telling(heard.reports)) is not None:
            keep_report(site.root.attention_file(worker.name), *last)
        if heard.answers:
            from llmc.perform.metering import count_reported

            count_reported(site, worker, heard.answers)
        if heard.events:
            decisions += site.ledger.hear(worker.name, heard.events, heard.marks)
            worker = site.worker(worker.name)  # with the marks of what it has heard
        for spooled in batch:
            take(spooled)
    return decisions


def _batches(directory: str, most: int) -> Iterator[Sequence[SpooledEvent]]:
    """Whoever asks takes each one before asking for the next: then the next look finds others."""
    seen = 0
    while seen < most and (spooled := pending(directory, limit=min(SORTED_AT_ONCE, most - seen))):
        for first in range(0, len(spooled), BATCH):
            yield spooled[first : first + BATCH]
        seen += len(spooled)


def take_terminal_reports(subject: Subject) -> None:
    """The same for a terminal without a worker: all that is kept of its reports is what the program does now."""
    from llmc.agents.reports import understood
    from llmc.care.attention import keep_report

    for event in pending(subject.spool) if subject.spool else ():
        report = understood(subject.translate, event.data)
        if report is not None:
            keep_report(subject.reports, report, event.at_unix)
        take(event)
