"""The workers: where they work, what runs for them, and whether git has what their records name."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from llmc.agents.base import program_of
from llmc.agents.registry import BUILT_IN, agent_named
from llmc.config import Config
from llmc.doctor.health import (
    Absent,
    AgentFacts,
    Answer,
    Clone,
    Found,
    StateFacts,
    Terminal,
    Unknown,
    WorkerHealth,
    WorktreeRecord,
)
from llmc.doctor.look_git import missing_commits
from llmc.doctor.look_probe import given, probe
from llmc.doctor.look_records import look_at_spool
from llmc.git.repository import operations, status
from llmc.git.runner import Git
from llmc.git.worktree_identity import foreign_git
from llmc.host.base import Host
from llmc.host.processes import is_running
from llmc.model import Worker
from llmc.root import Root
from llmc.tmux.parsing import Pane
from llmc.tmux.server import Tmux

T = TypeVar("T")


def look_at_agents(
    host: Host, root: Root, config: Config, workers: Mapping[str, Worker]
) -> Answer[tuple[AgentFacts, ...]]:
    """The agent that new workers get, and those of the workers that there are."""
    users: dict[str, list[str]] = {config.defaults.agent: []}
    for worker in workers.values():
        users.setdefault(worker.agent, []).append(worker.name)
    return Found(tuple(look_at_agent(host, root, config, name, tuple(names)) for name, names in users.items()))


def look_at_agent(host: Host, root: Root, config: Config, name: str, workers: tuple[str, ...] = ()) -> AgentFacts:
    if name not in BUILT_IN and name not in config.agents:
        return AgentFacts(name, workers)
    agent = agent_named(name, config, root.packs)
    program = program_of(agent)
    return AgentFacts(name, workers, program, host.which(program) is not None, agent.reports_start)


def look_at_terminals(tmux: Tmux) -> Answer[tuple[Terminal, ...]]:
    return Found(tuple(_terminal(pane) for pane in tmux.panes().values()))


def _terminal(pane: Pane) -> Terminal:
    if not pane.dead and is_running(pane.pid):
        return Terminal(pane.session, alive=True)
    if pane.exit_signal is not None:
        how = f"signal {pane.exit_signal} ended it"
    elif pane.exit_code is not None:
        how = f"it ended with exit code {pane.exit_code}"
    else:
        how = "how it ended is not known"
    return Terminal(pane.session, alive=False, how=how)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the record of a worker is compared with."""

    host: Host
    root: Root
    now: float
    git: Answer[Git]
    clone: Answer[Clone]
    terminals: Answer[tuple[Terminal, ...]]


def look_at_workers(around: Surroundings, state: StateFacts) -> Answer[tuple[WorkerHealth, ...]]:
    return Found(tuple(_look_at_worker(around, worker) for worker in state.workers.values()))


def _look_at_worker(around: Surroundings, worker: Worker) -> WorkerHealth:
    path = worker.worktree_path
    directory = probe(lambda: Found(path) if around.host.is_dir(path) else Absent())
    record = given(around.git, lambda git: given(around.clone, lambda clone: _record(around, git, clone, worker)))
    checkout = _checkout(around.git, directory, record)
    return WorkerHealth(
        worker,
        directory,
        record,
        tip=given(around.clone, lambda clone: _there(clone.heads.get(worker.branch))),
        operations=given(checkout, lambda git: Found(tuple(map(str, operations(git, path))))),
        dirty=given(checkout, lambda git: Found(tuple(each.path for each in status(git, path)))),
        lost_commits=given(around.clone, lambda _: _lost_commits(around, worker)),
        terminal=given(around.terminals, lambda terminals: _terminal_of(worker, terminals)),
        spool=probe(lambda: look_at_spool(around.root, worker.name, around.now)),
    )


def _record(around: Surroundings, git: Git, clone: Clone, worker: Worker) -> Answer[WorktreeRecord]:
    path = worker.worktree_path
    real = git.host.real_path(path)
    known = next((each for each in clone.worktrees if each.path == real), None)
    if known is None or known.missing or not git.host.is_dir(path):
        return _there(known)
    # Git lists a record without looking whether it is whole, and whether the directory is still of this repository.
    foreign = foreign_git(git.host, around.root.path, posixpath.basename(path))
    return Found(replace(known, missing=foreign is not None, foreign=foreign or ""))


def _checkout(git: Answer[Git], directory: Answer[str], record: Answer[WorktreeRecord]) -> Answer[Git]:
    """Git, where there is a worktree to ask it about: in any other directory it would answer for another repository."""
    is_worktree = isinstance(directory, Found) and isinstance(record, Found) and not record.value.missing
    return git if is_worktree else Unknown("there is no worktree", covered=True)


def _lost_commits(around: Surroundings, worker: Worker) -> Answer[tuple[str, ...]]:
    named = tuple(sha for sha in (worker.commit_sha, worker.base_sha) if sha)
    return given(around.git, lambda git: Found(missing_commits(git, around.root.path, named)))


def _terminal_of(worker: Worker, terminals: tuple[Terminal, ...]) -> Answer[Terminal]:
    return _there(next((each for each in terminals if each.session == worker.session_id), None))


def _there(value: T | None) -> Answer[T]:
    return Absent() if value is None else Found(value)
