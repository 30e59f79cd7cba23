"""The agent's own reports as events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from llmc.agents.reports import Report, is_of_session, understood
from llmc.core.lifecycle import events as ev
from llmc.core.screen.reset_time import reset_time
from llmc.core.usage.answer import ModelAnswer
from llmc.git.rebase import rebase_in_progress
from llmc.git.repository import status
from llmc.git.worktree_identity import foreign_git
from llmc.model import Work, Worker
from llmc.observe.branches import new_work, work_elsewhere
from llmc.observe.sessions import said_on_screen
from llmc.site import Site, local_offset
from llmc.store.spool import SpooledEvent, has_events
from llmc.values import Value


class Heard(Value):
    """What some reports say."""

    events: list[ev.Event]
    marks: tuple[str, ...]
    """Of the files that they came in."""
    reports: list[tuple[Report, float]]
    """Those of the session that the worker is in now, each with its time."""
    answers: list[ModelAnswer]
    """What its model has answered, in whatever session."""


def hear(site: Site, worker: Worker, batch: Iterable[SpooledEvent]) -> Heard:
    """Those that the record has already say nothing."""
    translate = site.agent_of(worker).translate
    new = [spooled for spooled in batch if spooled.mark not in worker.kept_reports]
    read = [(understood(translate, spooled.data), spooled) for spooled in new]
    told = [(report, spooled) for report, spooled in read if report is not None]
    reports = [(report, s.at_unix) for report, s in told if is_of_session(worker, s.data, s.at_unix)]
    events: list[ev.Event] = [
        ev.PromptHeard(s.at_unix, report.sha256, outlived=True)
        for report, s in told
        if report.kind == "prompt" and not is_of_session(worker, s.data, s.at_unix)
    ]
    events += _as_events(site, worker, _without_repetitions(reports))
    answers = [replace(report.answer, at_unix=s.at_unix) for report, s in told if report.answer is not None]
    return Heard(events, tuple(spooled.mark for spooled in new), reports, answers)


def has_reports(site: Site, name: str) -> bool:
    return has_events(site.root.spool(name))


def _without_repetitions(reports: list[tuple[Report, float]]) -> list[tuple[Report, float]]:
    """One tool after the other: the last of them tells all that the others tell."""
    kinds = [report.kind for report, _ in reports]
    return [told for n, told in enumerate(reports) if kinds[n : n + 2] != ["activity", "activity"]]


def _as_events(site: Site, worker: Worker, reports: Iterable[tuple[Report, float]]) -> list[ev.Event]:
    @cache
    def branch() -> _Branch:
        """As it is after the last of these reports; asked for once."""
        return _look_at_branch(site, worker)

    def event(report: Report, at: float) -> ev.Event | None:
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
            case "interrupted":
                return ev.TurnInterrupted(at, "report", branch().commit)
            case "turn_end":
                now = branch()
                said = report.text or said_on_screen(site, worker)
                return ev.TurnEnded(
                    at, now.commit, now.dirty, report.background, now.elsewhere, now.rebase_over, said, now.foreign
                )
        return None

    found = (event(report, at) for report, at in reports)
    return [event for event in found if event is not None]


class _Branch(Value):
    """The new commit, whether files are uncommitted, where else the work is, and whether a rebase is over."""

    commit: str | None
    dirty: bool = False
    elsewhere: str = ""
    rebase_over: bool = False
    foreign: str = ""
    """Then nothing else that git says in the worktree is about the worker."""


def _look_at_branch(site: Site, worker: Worker) -> _Branch:
    commit = new_work(site, worker)
    foreign = foreign_git(site.host, site.root.path, worker.name)
    if foreign is not None:
        return _Branch(commit, foreign=foreign)
    # Uncommitted files only matter where there is no commit: looking for them means looking at every file.
    dirty = commit in (None, worker.rejected_sha) and bool(status(site.git, worker.worktree_path))
    elsewhere = work_elsewhere(site, worker)
    rebase_over = worker.work is Work.REBASING and rebase_in_progress(site.git, worker.worktree_path) is None
    return _Branch(commit, dirty, elsewhere.where if elsewhere else "", rebase_over)
