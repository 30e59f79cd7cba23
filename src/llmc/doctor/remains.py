"""What is left of the workers, whatever the state says, and the workers that can be made of it again.

It is found in worktrees, branches, terminals and the log of events.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from llmc.agents.registry import BUILT_IN
from llmc.core.lifecycle.events import (
    ActivityHeard,
    AgentExited,
    PromptHeard,
    SessionReady,
    TaskGiven,
    TurnEnded,
    WorkRejected,
)
from llmc.core.names import name_problem
from llmc.core.screen.classify import read_screen
from llmc.core.screen.screen import Screen
from llmc.doctor.health import BRANCHES, SESSIONS
from llmc.errors import LlmcError
from llmc.git.clone import fetch_source
from llmc.git.history import merge_base, merged_elsewhere
from llmc.git.parse import parse_unmerged
from llmc.git.rebase import rebase_in_progress
from llmc.git.repository import branch_tip, heads, missing_commits, raw_status, status
from llmc.git.worktree_identity import foreign_git
from llmc.model import Evidence, Session, State, Turn, Work, Worker
from llmc.observe.branches import upstream_tip
from llmc.site import Site
from llmc.store.event_log import EventLogError
from llmc.tmux.parsing import Pane
from llmc.values import Value

SIGNAL = "doctor.rebuild"
AGENT_TRACES = {
    "claude": "settings.json",
    "gemini": "home",
    "opencode": "opencode.json",
    "kilo": "kilo.json",
    "pi": "report.ts",
    "cline": "data",
    "aider": "chat.md",
    "qwen": "qwen.json",
    "copilot": "plugin",
    "kimi": "kimi",
    "codex": "report.sh",
}
"""What each agent is given to read, in an order in which the first that is there decides."""
HEARD = tuple(kind.__name__ for kind in (PromptHeard, ActivityHeard, TurnEnded))
"""Events that are reports of the agent's own."""


class Logged(Value):
    """What the log of events tells of a worker, since it was added."""

    work: Work | None = None
    at_unix: float = 0.0
    since_unix: float = 0.0
    prompt: str = ""
    task: str = ""
    agent: str = ""
    rejected_sha: str | None = None
    crash_count: int = 0
    reports_events: bool = False


class Remains(Value):
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


class Rebuilt(Value):
    worker: Worker
    known_from: Mapping[str, str]
    """Where each part comes from, in words."""


# --- look -----------------------------------------------------------------------------------------


def find_remains(site: Site) -> dict[str, Remains]:
    """Everything that was a worker's, by its name."""
    _learn_what_landed(site)
    panes = _panes(site)
    return {name: _remains(site, name, panes.get(SESSIONS + name)) for name in _names(site)}


def find_remains_of(site: Site, name: str) -> Remains:
    _learn_what_landed(site)
    return _remains(site, name, _panes(site).get(SESSIONS + name))


def _learn_what_landed(site: Site) -> None:
    """From the user's own repository, if it is there: work that it has is no work any more."""
    with suppress(LlmcError):
        fetch_source(site.git, site.config.repo.source, site.root.path, site.config.repo.branch)


def _panes(site: Site) -> dict[str, Pane]:
    try:
        return {name: pane for name, pane in site.tmux.panes().items() if not pane.dead}
    except LlmcError:
        return {}


def _names(site: Site) -> list[str]:
    directories = {each.name for each in Path(site.root.worktrees).glob("*") if each.is_dir()}
    branches = {name.removeprefix(BRANCHES) for name in heads(site.git, site.root.path) if name.startswith(BRANCHES)}
    return sorted(name for name in directories | branches if name_problem(name) is None)


def _remains(site: Site, name: str, pane: Pane | None) -> Remains:
    path, branch = site.root.worktree(name), BRANCHES + name
    logged = _logged(site, name)
    agents = _agents(site, name, logged)
    is_worktree = foreign_git(site.host, site.root.path, name) is None
    unmerged = parse_unmerged(raw_status(site.git, path)) if is_worktree else ()
    base, ahead = _work_on(site, branch)
    return Remains(
        name,
        path,
        branch,
        agents,
        has_worktree=is_worktree,
        base=base,
        ahead=ahead,
        rebasing=is_worktree and rebase_in_progress(site.git, path) is not None,
        conflicted_files=tuple(each.path for each in unmerged),
        dirty=len(status(site.git, path)) if is_worktree else 0,
        alive=pane is not None,
        busy=pane is not None and _is_busy(site, next(iter(agents.values()), ""), pane),
        logged=logged,
    )


def _work_on(site: Site, branch: str) -> tuple[str | None, str | None]:
    """What the branch shares with the upstream, and its tip when it holds work."""
    tip, upstream = branch_tip(site.git, site.root.path, branch), upstream_tip(site)
    if tip is None or upstream is None:
        return upstream, None
    base = merge_base(site.git, site.root.path, upstream, tip)
    return base or upstream, None if merged_elsewhere(site.git, site.root.path, tip, upstream) else tip


def _is_busy(site: Site, agent: str, pane: Pane) -> bool:
    try:
        probe = Worker("", "", "", "", agent, 0.0, 0.0)
        return read_screen(site.agent_of(probe).pack, Screen(site.tmux.capture(pane.id), pane.title)).state == "BUSY"
    except LlmcError:
        return False


def _agents(site: Site, name: str, logged: Logged) -> dict[str, str]:
    own = site.config.workers.get(name)
    settings = Path(site.root.settings_dir(name))
    traced = next((agent for agent, trace in AGENT_TRACES.items() if Path(settings, trace).exists()), None)
    found = {
        "config.toml": own.agent if own is not None else None,
        "the log of events": logged.agent,
        "the files that it was given": traced,
        "the default": site.config.defaults.agent,
    }
    known = BUILT_IN.keys() | site.config.agents.keys()
    return {source: agent for source, agent in found.items() if agent in known and agent}


def _logged(site: Site, name: str) -> Logged:
    log = site.ledger.events
    try:
        removed = log.latest(name, "removed")
        after = removed.id if removed is not None else 0
        last = log.latest(name, after_id=after)
        task = log.latest(name, TaskGiven.__name__, after_id=after)
        rejected = log.latest(name, WorkRejected.__name__, after_id=task.id if task else after)
        crash = log.latest(name, AgentExited.__name__, after_id=after)
        added = log.latest(name, "added", after_id=after)
        heard = log.latest(name, SessionReady.__name__, *HEARD, after_id=after)
    except EventLogError:
        return Logged()
    rejected_sha = rejected.data.get("rejected_sha") if rejected is not None else None
    crashes = crash.data.get("crash_count") if crash is not None else None
    return Logged(
        work=_work_named(last.work_after) if last is not None else None,
        at_unix=last.at_unix if last is not None else 0.0,
        since_unix=added.at_unix if added is not None else 0.0,
        prompt=str(task.data.get("prompt", "")) if task is not None else "",
        task=str(task.data.get("task", "")) if task is not None else "",
        agent=str(added.data.get("agent", "")) if added is not None else "",
        rejected_sha=str(rejected_sha) if rejected_sha else None,
        crash_count=crashes if isinstance(crashes, int) else 0,
        reports_events=heard is not None and bool(heard.data.get("reports_events", heard.kind in HEARD)),
    )


def _work_named(word: str) -> Work | None:
    return Work(word) if word in tuple(Work) else None


class GitFacts(Value):
    """What git shows of a worker, to put its record right."""

    ahead: str | None = None
    """The tip of its branch when that holds work."""
    base: str | None = None
    """What its branch and the upstream share."""
    missing: frozenset[str] = frozenset()
    """Commits that its record names and that do not exist."""


def find_git_facts(site: Site, worker: Worker) -> GitFacts:
    named = (sha for sha in (worker.commit_sha, worker.base_sha, worker.rejected_sha) if sha)
    base, ahead = _work_on(site, worker.branch or BRANCHES + worker.name)
    return GitFacts(ahead, base, frozenset(missing_commits(site.git, site.root.path, named)))


# --- judgement ------------------------------------------------------------------------------------


def rebuilt(remains: Remains, now: float) -> Rebuilt:
    work, why = _work(remains)
    agent, agent_from = next(((name, source) for source, name in remains.agents.items()), ("claude", "the default"))
    logged = remains.logged
    prompt = logged.prompt if work is not Work.IDLE else ""
    worker = Worker(
        remains.name,
        remains.worktree_path,
        remains.branch,
        SESSIONS + remains.name,
        agent,
        created_at_unix=min(logged.since_unix or now, now),
        last_activity_unix=min(logged.at_unix or now, now),
        work=work,
        session=Session.UP if remains.alive else Session.DOWN,
        turn=_turn(remains),
        current_prompt=prompt,
        task=logged.task if prompt else "",
        base_sha=remains.base,
        commit_sha=remains.ahead,
        rejected_sha=logged.rejected_sha if work is not Work.IDLE else None,
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
