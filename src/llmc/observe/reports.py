"""The agent's own reports, from the spool, as events."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from llmc.agents.reports import Report
from llmc.core import events as ev
from llmc.core.reset_time import reset_time
from llmc.git.repository import status
from llmc.model import Worker
from llmc.observe.attention import note_report
from llmc.observe.branches import new_work, work_elsewhere
from llmc.site import Site, local_offset
from llmc.store.spool import SpooledEvent, pending, take

BATCH = 1_000
MOST_BATCHES = 2
"""A flood of reports must not keep the daemon from everything else. Each batch costs a look at the whole directory."""


def report_events(site: Site, worker: Worker) -> Iterator[tuple[ev.Event | None, Callable[[], None]]]:
    """Each event with what to call once it is kept: until then its file stays in the spool."""
    translate = site.agent_of(worker).translate
    for spooled, following in _spooled(site.root.spool(worker.name)):
        report = translate(spooled.data)
        event = None
        if report is not None and not _says_the_same(report, translate(following.data) if following else None):
            note_report(site, worker.name, report, spooled.at_unix)
            event = _as_event(site, worker, report, spooled.at_unix)
        yield event, lambda spooled=spooled: take(spooled)  # type: ignore[misc]


def _says_the_same(report: Report, following: Report | None) -> bool:
    """One tool after the other: the last of them tells all that the others tell."""
    return following is not None and report.kind == following.kind == "activity"


def _spooled(directory: str) -> Iterator[tuple[SpooledEvent, SpooledEvent | None]]:
    """Each with the one that follows it. Whoever asks takes each one: then the next batch is another one."""
    for _ in range(MOST_BATCHES):
        batch = pending(directory, limit=BATCH)
        if not batch:
            return
        yield from zip(batch, [*batch[1:], None], strict=True)


def _as_event(site: Site, worker: Worker, report: Report, at: float) -> ev.Event | None:
    match report.kind:
        case "prompt":
            return ev.PromptHeard(at, report.sha256, report.conversation)
        case "activity":
            return ev.ActivityHeard(at, report.text)
        case "permission":
            return ev.PermissionWanted(at, report.text)
        case "question":
            return ev.QuestionAsked(at, report.text)
        case "failure":
            return ev.TurnFailed(at, report.failure, report.text, reset_time(report.text, at, local_offset(at)))
        case "turn_end":
            return _turn_ended(site, worker, report, at)
    return None


def _turn_ended(site: Site, worker: Worker, report: Report, at: float) -> ev.TurnEnded:
    commit = new_work(site, worker)
    # Uncommitted files only matter where there is no commit: looking for them means looking at every file.
    dirty = commit in (None, worker.rejected_sha) and bool(status(site.git, worker.worktree_path))
    elsewhere = work_elsewhere(site, worker)
    return ev.TurnEnded(at, commit, dirty, report.background, elsewhere.where if elsewhere else "")
