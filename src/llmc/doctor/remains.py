"""What is left of the workers, whatever the state says: worktrees, branches, terminals, the log of events."""

from __future__ import annotations

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
from llmc.core.screen.classify import Screen, read_screen
from llmc.doctor.look_git import missing_commits
from llmc.doctor.mending import Seen
from llmc.doctor.rebuild import Logged, Remains
from llmc.errors import LlmcError
from llmc.git.clone import fetch_source
from llmc.git.history import merge_base, merged_elsewhere
from llmc.git.parse import parse_unmerged
from llmc.git.rebase import rebase_in_progress
from llmc.git.repository import branch_tip, heads, raw_status, status
from llmc.git.worktree_identity import foreign_git
from llmc.model import State, Work, Worker
from llmc.observe.branches import upstream_tip
from llmc.site import Site
from llmc.store.event_log import EventLogError
from llmc.tmux.parsing import Pane

BRANCHES = "llmc/"
TRACES = {
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


def find_remains(site: Site) -> dict[str, Remains]:
    """Everything that was a worker's, by its name."""
    _learn_what_landed(site)
    panes = _panes(site)
    return {name: _remains(site, name, panes.get(f"llmc-{name}")) for name in _names(site)}


def find_remains_of(site: Site, name: str) -> Remains:
    _learn_what_landed(site)
    return _remains(site, name, _panes(site).get(f"llmc-{name}"))


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
    base, ahead = _work(site, branch)
    return Remains(
        name,
        path,
        branch,
        agents,
        has_worktree=is_worktree,
        base=base,
        ahead=ahead,
        rebasing=is_worktree and rebase_in_progress(site.git, path) is not None,
        conflicted_files=_conflicts(site, path) if is_worktree else (),
        dirty=len(status(site.git, path)) if is_worktree else 0,
        alive=pane is not None,
        busy=pane is not None and _is_busy(site, next(iter(agents.values()), ""), pane),
        logged=logged,
    )


def _conflicts(site: Site, path: str) -> tuple[str, ...]:
    return tuple(entry.path for entry in parse_unmerged(raw_status(site.git, path)))


def _work(site: Site, branch: str) -> tuple[str | None, str | None]:
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
    traced = next((agent for agent, trace in TRACES.items() if Path(settings, trace).exists()), None)
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
        agent=str(added.data.get("agent", "")) if added is not None else "",
        rejected_sha=str(rejected_sha) if rejected_sha else None,
        crash_count=crashes if isinstance(crashes, int) else 0,
        reports_events=heard is not None and bool(heard.data.get("reports_events", heard.kind in HEARD)),
    )


def _work_named(word: str) -> Work | None:
    return Work(word) if word in tuple(Work) else None


def look_for_mending(site: Site, state: State) -> dict[str, Seen]:
    """What git shows of each worker, to put its record right."""
    return {key: _seen(site, worker) for key, worker in state.workers.items()}


def _seen(site: Site, worker: Worker) -> Seen:
    named = tuple(sha for sha in (worker.commit_sha, worker.base_sha, worker.rejected_sha) if sha)
    base, ahead = _work(site, worker.branch or BRANCHES + worker.name)
    return Seen(ahead, base, frozenset(missing_commits(site.git, site.root.path, named)))
