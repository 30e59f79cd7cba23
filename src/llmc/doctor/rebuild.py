"""A worker from what is left of it: its worktree, its branch, its terminal, the log of events. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llmc.model import Evidence, Session, State, Turn, Work, Worker

SIGNAL = "doctor.rebuild"


@dataclass(frozen=True, slots=True)
class Logged:
    """What the log of events tells of a worker, since it was added."""

    work: Work | None = None
    at_unix: float = 0.0
    since_unix: float = 0.0
    prompt: str = ""
    agent: str = ""
    rejected_sha: str | None = None
    crash_count: int = 0
    reports_events: bool = False


@dataclass(frozen=True, slots=True)
class Remains:
    """What is there of one worker."""

    name: str
    worktree_path: str
    branch: str
    agents: Mapping[str, str]
    """Which agent each source names, the best source first."""
    has_worktree: bool
    base: str | None
    """What its branch and the upstream share."""
    ahead: str | None
    """The tip of its branch when that holds work."""
    rebasing: bool = False
    conflicted_files: tuple[str, ...] = ()
    dirty: int = 0
    alive: bool = False
    busy: bool = False
    """Whether its screen shows an agent at work."""
    logged: Logged = Logged()


@dataclass(frozen=True, slots=True)
class Rebuilt:
    worker: Worker
    known_from: Mapping[str, str]
    """Where each part comes from, in words."""


def rebuilt(remains: Remains, now: float) -> Rebuilt:
    work, why = _work(remains)
    agent, agent_from = next(((name, source) for source, name in remains.agents.items()), ("claude", "the default"))
    logged = remains.logged
    prompt = logged.prompt if work is not Work.IDLE else ""
    worker = Worker(
        remains.name,
        remains.worktree_path,
        remains.branch,
        f"llmc-{remains.name}",
        agent,
        created_at_unix=min(logged.since_unix or now, now),
        last_activity_unix=min(logged.at_unix or now, now),
        work=work,
        session=Session.UP if remains.alive else Session.DOWN,
        turn=_turn(remains),
        current_prompt=prompt,
        base_sha=remains.base,
        commit_sha=remains.ahead,
        rejected_sha=_rejected(remains, work),
        resume_work=_resume(work, prompt),
        rebase_started_at_unix=now if work is Work.REBASING else None,
        conflicted_files=remains.conflicted_files,
        crash_count=logged.crash_count,
        reports_events=remains.alive and logged.reports_events,
        evidence=Evidence(SIGNAL, now, why),
    )
    prompt_from = "the log of events" if prompt else "not known" if work is not Work.IDLE else "none"
    terminal = "its terminal runs" if remains.alive else "it has no terminal"
    return Rebuilt(worker, {"work": why, "session": terminal, "task": prompt_from, "agent": agent_from})


def _work(remains: Remains) -> tuple[Work, str]:
    last = remains.logged.work
    if remains.rebasing:
        return Work.REBASING, "a rebase is under way in its worktree"
    if remains.busy and (remains.ahead or last in (None, Work.IDLE, Work.NEEDS_INPUT, Work.NEEDS_REVIEW)):
        return Work.WORKING, "its screen shows an agent at work"
    if remains.ahead is not None and remains.ahead != remains.logged.rejected_sha:
        return Work.NEEDS_REVIEW, "its branch has commits of its own"
    if last in (Work.WORKING, Work.REJECTED) and remains.alive:
        return last, "the last entry in the log of events"
    if last in (Work.NEEDS_REVIEW, Work.REBASING):
        return Work.NEEDS_INPUT, f"it was {last.value} by the log, but its branch holds no work"
    if last in (Work.WORKING, Work.REJECTED):
        return Work.NEEDS_INPUT, f"it was {last.value} by the log, and its agent does not run"
    if last is not None:
        return last, "the last entry in the log of events"
    if remains.dirty:
        return Work.NEEDS_INPUT, "its worktree has uncommitted changes"
    return Work.IDLE, "its branch has no commits of its own"


def _resume(work: Work, prompt: str) -> Work | None:
    """What comes after a rebase or an error."""
    if work is Work.REBASING:
        return Work.NEEDS_REVIEW
    if work is Work.ERROR:
        return Work.NEEDS_INPUT if prompt else Work.IDLE
    return None


def _turn(remains: Remains) -> Turn:
    if not remains.alive:
        return Turn.OVER
    return Turn.OPEN if remains.busy else Turn.UNKNOWN


def _rejected(remains: Remains, work: Work) -> str | None:
    return remains.logged.rejected_sha if work is not Work.IDLE and remains.logged.rejected_sha else None


def backup_is_current(backup: State, remains: Mapping[str, Remains]) -> bool:
    """Whether nothing that can be seen is newer than this state."""
    if backup.workers.keys() != remains.keys():
        return False
    return all(_agrees(worker, remains[name]) for name, worker in backup.workers.items())


def _agrees(worker: Worker, remains: Remains) -> bool:
    logged = remains.logged
    if worker.pending and logged.at_unix > worker.last_activity_unix:
        return False  # a step in it may have been taken since
    return logged.work in (None, worker.work)
