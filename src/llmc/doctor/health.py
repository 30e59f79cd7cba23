"""What a look at a root and its machine has found. Every answer is seen (to work or not), absent, or unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, TypeVar

from llmc.core.landing.journal import Landing
from llmc.model import Worker

T = TypeVar("T", covariant=True)

Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    value: T


@dataclass(frozen=True, slots=True)
class Broken:
    """It is there and cannot be used."""

    what: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Newer(Broken):
    """It was made by a version that knows more than this one."""


@dataclass(frozen=True, slots=True)
class Absent:
    """It is not there, for sure."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """The question was not answered. `covered`: by reason of something that has a finding of its own."""

    why: str
    covered: bool = False


Answer = Found[T] | Broken | Absent | Unknown


@dataclass(frozen=True, slots=True)
class Space:
    """What is free on the disk of the root; None where it does not count its files."""

    free_bytes: int
    free_files: int | None


@dataclass(frozen=True, slots=True)
class OpenPath:
    """Something of the root's that other users may use."""

    path: str
    mode: int


@dataclass(frozen=True, slots=True)
class Settings:
    source: str
    branch: str
    agent: str
    """The one that new workers get."""
    patrol_interval_secs: float


@dataclass(frozen=True, slots=True)
class Inconsistency:
    worker: str | None
    what: str


@dataclass(frozen=True, slots=True)
class StateFacts:
    workers: Mapping[str, Worker]
    patrol_last_run_unix: float | None = None
    problems: tuple[Inconsistency, ...] = ()
    """What contradicts itself, so that no command takes this state."""
    future: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """The workers whose record in the file has times to come, with how many seconds ahead."""


@dataclass(frozen=True, slots=True)
class AgentFacts:
    name: str
    workers: tuple[str, ...]
    program: str = ""
    """Empty when nobody has described this agent."""
    installed: bool = False
    reports_start: bool = False
    """Whether it tells by itself that it is up."""


@dataclass(frozen=True, slots=True)
class WorktreeRecord:
    """What git itself says of a worktree."""

    path: str
    branch: str | None
    """None when HEAD is detached."""
    missing: bool = False
    foreign: str = ""
    """Why the directory is not the one that LLMC made, if it is there and is not."""


@dataclass(frozen=True, slots=True)
class Clone:
    """LLMC's own copy of the repository."""

    heads: Mapping[str, str]
    worktrees: tuple[WorktreeRecord, ...]
    settings_off: tuple[str, ...]
    """What LLMC turns on there and somebody has turned off."""
    origin: str
    """Where it fetches from."""
    identity_trouble: str
    """Why git would refuse a commit; empty when it would not."""


@dataclass(frozen=True, slots=True)
class Source:
    has_branch: bool


@dataclass(frozen=True, slots=True)
class Terminal:
    session: str
    alive: bool
    how: str = ""
    """How its process ended."""


@dataclass(frozen=True, slots=True)
class Daemon:
    pid: int
    since_unix: float
    running: bool
    """False when it was ended without a chance to sign off."""


@dataclass(frozen=True, slots=True)
class Spool:
    """An agent's reports that nobody has taken yet, and those that were not understood."""

    waiting: int = 0
    oldest_secs: float = 0.0
    bad: int = 0


@dataclass(frozen=True, slots=True)
class Unreadable:
    path: str
    why: str


@dataclass(frozen=True, slots=True)
class GitLock:
    """A lock file of git's that no process can be seen to use."""

    path: str
    age_secs: float


@dataclass(frozen=True, slots=True)
class SourceLock:
    """A lock file of git's in the user's own repository that stays."""

    path: str
    age_secs: float
    holder: str
    """Who may still use it; empty when no process can."""


@dataclass(frozen=True, slots=True)
class Stray:
    """A process that an agent of this root has started and that is in no terminal of its worker's."""

    pid: int
    worker: str
    command: str


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    worker: Worker
    directory: Answer[str]
    record: Answer[WorktreeRecord]
    tip: Answer[str]
    operations: Answer[tuple[str, ...]]
    dirty: Answer[tuple[str, ...]]
    lost_commits: Answer[tuple[str, ...]]
    terminal: Answer[Terminal]
    spool: Answer[Spool]


@dataclass(frozen=True, slots=True)
class RootHealth:
    path: str
    tmux_socket: str
    open_paths: Answer[tuple[OpenPath, ...]]
    read_only: Answer[tuple[str, ...]]
    replaced: Answer[tuple[str, ...]]
    """Where LLMC keeps a directory of its own and a link or a file stands."""
    space: Answer[Space]
    directories: Answer[tuple[str, ...]]
    settings: Answer[Settings]
    state: Answer[StateFacts]
    backup: Answer[float]
    """How many seconds old the last state before this one is."""
    clone: Answer[Clone]
    source: Answer[Source]
    follows_source: Answer[bool]
    uses_lfs: Answer[bool]
    agents: Answer[tuple[AgentFacts, ...]]
    terminals: Answer[tuple[Terminal, ...]]
    daemon: Answer[Daemon]
    acting: Answer[frozenset[str]]
    unreadable: Answer[tuple[Unreadable, ...]]
    broken_refs: Answer[tuple[str, ...]]
    git_locks: Answer[tuple[GitLock, ...]]
    landings: Answer[tuple[Landing, ...]]
    """Those that were cut short."""
    source_locks: Answer[tuple[SourceLock, ...]]
    strays: Answer[tuple[Stray, ...]]
    left_over: Answer[tuple[str, ...]]
    """Files that belong to nobody any more."""
    workers: Answer[tuple[WorkerHealth, ...]]
    broken_packs: Answer[tuple[str, ...]]
    """What is wrong with the user's own screen packs."""


@dataclass(frozen=True, slots=True)
class Health:
    at_unix: float
    root_path: str
    git: Answer[Version]
    tmux: Answer[Version]
    minimum: Mapping[str, Version]
    """The oldest git and tmux that will do."""
    tools: Mapping[str, bool]
    """Whether each optional program is installed."""
    root: Answer[RootHealth]


SUBJECTS: Mapping[str, tuple[str, str]] = {
    "directory": ("worktrees", "its worktree"),
    "record": ("worktrees", "git's record of its worktree"),
    "tip": ("worktrees", "its branch"),
    "operations": ("worktrees", "what git is in the middle of"),
    "dirty": ("worktrees", "uncommitted changes"),
    "lost_commits": ("worktrees", "its commits"),
    "terminal": ("terminals", "its terminal"),
    "spool": ("records", "its agent's reports"),
    "open_paths": ("root", "who may read the root"),
    "read_only": ("root", "whether the root can be written to"),
    "replaced": ("root", "the directories of the root"),
    "space": ("root", "the free space"),
    "directories": ("worktrees", "the directories of the worktrees"),
    "settings": ("settings", "config.toml"),
    "state": ("state", "state.json"),
    "backup": ("state", "state.json.bak"),
    "clone": ("repository", "LLMC's own clone"),
    "source": ("repository", "the source repository"),
    "follows_source": ("repository", "which repository the clone follows"),
    "uses_lfs": ("repository", "whether the repository uses git-lfs"),
    "agents": ("agents", "the agents"),
    "terminals": ("terminals", "the tmux server"),
    "daemon": ("daemon", "the daemon"),
    "acting": ("daemon", "which workers somebody acts for"),
    "unreadable": ("records", "the logs"),
    "broken_refs": ("repository", "the refs of the clone"),
    "git_locks": ("repository", "git's lock files"),
    "landings": ("repository", "the journal of landings"),
    "source_locks": ("repository", "git's lock files in the source repository"),
    "strays": ("terminals", "programs that outlive their agents"),
    "left_over": ("records", "files that belong to nobody"),
    "workers": ("state", "the workers"),
    "broken_packs": ("settings", "the screen packs"),
    "git": ("programs", "git"),
    "tmux": ("programs", "tmux"),
    "root": ("root", "the root"),
}
"""The topic of each answer above, and the words for it when it is unknown."""
