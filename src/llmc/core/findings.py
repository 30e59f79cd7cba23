"""Everything that `llmc doctor` can find, each with a code that stays and with its repair."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


@dataclass(frozen=True, slots=True)
class Kind:
    """What a code stands for. Words in braces are filled in for the finding at hand."""

    code: str
    severity: Severity
    topic: str
    meaning: str
    repair: str


@dataclass(frozen=True, slots=True)
class Finding:
    code: str
    severity: Severity
    what: str
    why: str
    repair: str
    worker: str | None = None


_KINDS = (
    Kind("git-missing", ERROR, "programs", "git is not installed", "install git {minimum} or later"),
    Kind("git-old", ERROR, "programs", "git lacks what LLMC needs", "install git {minimum} or later"),
    Kind("tmux-missing", ERROR, "programs", "tmux is not installed", "install tmux {minimum} or later"),
    Kind("tmux-old", ERROR, "programs", "tmux lacks what LLMC needs", "install tmux {minimum} or later"),
    Kind("program-broken", ERROR, "programs", "git or tmux is installed and does not run", "install {program} again"),
    Kind(
        "lfs-missing",
        NOTE,
        "programs",
        "git-lfs is not installed; an error when the repository uses it",
        "install git-lfs",
    ),
    Kind("difft-missing", NOTE, "programs", "difftastic is not installed", "install difftastic"),
    Kind("delta-missing", NOTE, "programs", "delta is not installed", "install git-delta"),
    Kind(
        "agent-missing",
        ERROR,
        "agents",
        "the program of an agent is not installed; a warning while no worker uses it",
        "install {program}",
    ),
    Kind(
        "agent-unknown",
        ERROR,
        "agents",
        "a worker's agent is neither built in nor described in the settings",
        "describe it under `[agents.{agent}]` in {config}",
    ),
    Kind("root-missing", ERROR, "root", "there is no LLMC root where it was looked for", "`llmc init`"),
    Kind(
        "root-read-only",
        ERROR,
        "root",
        "the root, or a directory in it, cannot be written to",
        "`chmod u+w {path}`, or make its disk writable",
    ),
    Kind(
        "disk-low",
        WARNING,
        "root",
        "the disk of the root is nearly full; an error when it is full",
        "make room on the disk of {path}",
    ),
    Kind("modes-open", WARNING, "root", "other users may look into the root or its state", "`chmod go= {path}`"),
    Kind("worktrees-missing", ERROR, "root", "the root has no directory for worktrees any more", "`mkdir {path}`"),
    Kind(
        "config-missing",
        ERROR,
        "settings",
        "the root has no `config.toml` any more",
        "write {path} with `source` and `branch` under `[repo]`, as in docs/configuration.md",
    ),
    Kind(
        "config-broken",
        ERROR,
        "settings",
        "`config.toml` has a mistake",
        "mend {path}; `llmc config check` tells when it is right",
    ),
    Kind(
        "pack-broken",
        WARNING,
        "settings",
        "a screen pack of yours has a mistake",
        "mend it as docs/packs.md tells; `llmc config check` tells when it is right",
    ),
    Kind(
        "state-missing",
        ERROR,
        "state",
        "the root has no `state.json` any more",
        "`llmc doctor --repair` restores the backup; without one, `llmc doctor --rebuild`",
    ),
    Kind(
        "state-broken",
        ERROR,
        "state",
        "`state.json` is damaged",
        "`llmc doctor --repair` restores the backup; without one, `llmc doctor --rebuild`",
    ),
    Kind("state-newer", ERROR, "state", "`state.json` was written by a newer LLMC", "upgrade llmc"),
    Kind(
        "state-inconsistent",
        ERROR,
        "state",
        "`state.json` contradicts itself: work that waits for review without a commit, times in the future, ...",
        "`llmc doctor --repair`",
    ),
    Kind(
        "worker-error",
        WARNING,
        "state",
        "a worker has stopped with an error",
        "`llmc restart {worker}`, or `llmc reset {worker}` for a fresh start with a backup",
    ),
    Kind(
        "clone-broken",
        ERROR,
        "repository",
        "LLMC's own clone, the `.git` of the root, is missing or damaged",
        "`git -C {root} fsck` tells what is damaged; if it is lost, make a new root with `llmc init --target DIR`",
    ),
    Kind(
        "rerere-off",
        WARNING,
        "repository",
        "git does not remember how conflicts were resolved",
        "`git -C {root} config {setting} true`",
    ),
    Kind(
        "identity-missing",
        WARNING,
        "repository",
        "git does not know in whose name to commit, so that commits fail",
        "`git config --global user.name NAME` and `git config --global user.email ADDRESS`",
    ),
    Kind(
        "source-gone",
        ERROR,
        "repository",
        "the source repository is not where the settings say",
        "bring it back, or `llmc config set repo.source PATH` and `git -C {root} remote set-url origin PATH`",
    ),
    Kind(
        "source-differs",
        ERROR,
        "repository",
        "the clone follows another repository than the one that accepted work goes to",
        "`git -C {root} remote set-url origin {source}`",
    ),
    Kind(
        "branch-missing",
        ERROR,
        "repository",
        "the source repository has no such branch as the settings say",
        "bring the branch back, or name another one: `llmc config set repo.branch NAME`",
    ),
    Kind(
        "branch-orphaned",
        WARNING,
        "repository",
        "a branch of LLMC's belongs to no worker",
        "`llmc doctor --repair` removes it and keeps a backup",
    ),
    Kind(
        "worktree-missing",
        ERROR,
        "worktrees",
        "a worker's worktree is gone",
        "`llmc doctor --repair` makes it again from its branch",
    ),
    Kind(
        "worktree-unregistered",
        ERROR,
        "worktrees",
        "a worker's directory is there, but git does not know it as a worktree",
        "`llmc doctor --repair` makes it a worktree again; its files stay",
    ),
    Kind(
        "worktree-wrong-branch",
        ERROR,
        "worktrees",
        "a worker's worktree has another branch checked out, or none, so that its commits are not noticed",
        "`git -C {path} checkout {branch}`",
    ),
    Kind(
        "worktree-dirty-idle",
        WARNING,
        "worktrees",
        "an idle worker has uncommitted changes that belong to no task",
        "`llmc reset {worker}` sets them aside in a backup",
    ),
    Kind(
        "worktree-orphaned",
        WARNING,
        "worktrees",
        "a worktree, or a directory among them, belongs to no worker",
        "`llmc doctor --repair` removes it and keeps a backup",
    ),
    Kind(
        "rebase-left-over",
        WARNING,
        "worktrees",
        "a rebase, merge or the like was begun in a worktree and nobody goes on with it",
        "`git -C {path} {operation} --abort`",
    ),
    Kind(
        "branch-missing-for-worker",
        ERROR,
        "worktrees",
        "a worker's branch is gone",
        "`llmc doctor --repair` brings it back where it last stood",
    ),
    Kind(
        "commit-unknown",
        ERROR,
        "worktrees",
        "the clone does not have a commit that a worker's record names",
        "`llmc reset {worker}` begins anew; what is left is kept in a backup",
    ),
    Kind(
        "session-missing",
        ERROR,
        "terminals",
        "a worker counts as up, but has no terminal",
        "`llmc restart {worker}`",
    ),
    Kind(
        "session-dead",
        ERROR,
        "terminals",
        "a worker counts as up, but its agent has ended",
        "`llmc restart {worker}`",
    ),
    Kind(
        "session-orphaned",
        WARNING,
        "terminals",
        "an agent's terminal belongs to no worker",
        "`tmux -L {socket} kill-session -t ={session}`",
    ),
    Kind(
        "daemon-stale",
        WARNING,
        "daemon",
        "the daemon was ended by force, and nobody looks after the workers",
        "`llmc up`",
    ),
    Kind(
        "daemon-stuck",
        WARNING,
        "daemon",
        "the daemon runs, but has not been on patrol for long",
        "`kill {pid}`, then `llmc up`; the agents go on meanwhile",
    ),
    Kind(
        "steps-waiting",
        WARNING,
        "daemon",
        "something was decided for a worker and nobody carries it out",
        "`llmc up`",
    ),
    Kind(
        "events-waiting",
        WARNING,
        "records",
        "an agent's reports have not been taken for more than a minute; a note while no daemon runs",
        "`llmc up`; if the daemon runs, `llmc down` first",
    ),
    Kind(
        "events-bad",
        NOTE,
        "records",
        "an agent's reports were not understood and set aside",
        "read the notes in {path}, then remove it",
    ),
    Kind(
        "log-unreadable",
        WARNING,
        "records",
        "a log cannot be read",
        "move {path} away; a new one is begun by itself",
    ),
    Kind(
        "not-checked",
        WARNING,
        "",
        "a check could not be made, so that nothing is known",
        "remove the reason, then `llmc doctor` again",
    ),
)

KINDS: Mapping[str, Kind] = {kind.code: kind for kind in _KINDS}
TOPICS: tuple[str, ...] = tuple(dict.fromkeys(kind.topic for kind in _KINDS if kind.topic))


def finding(
    code: str,
    what: str,
    why: str = "",
    *,
    worker: str | None = None,
    severity: Severity | None = None,
    repair: str | None = None,
    **places: str,
) -> Finding:
    """A finding of that kind; severity and repair are those of the kind unless they are given."""
    kind = KINDS[code]
    words = repair or kind.repair.format(worker=worker, **{name: shlex.quote(value) for name, value in places.items()})
    return Finding(code, severity or kind.severity, what, why, words, worker)


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def some(names: Sequence[str], most: int = 5) -> str:
    """The names, or the first few and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def codes_table() -> str:
    """The table in docs/doctor.md."""
    rows = [f"| `{kind.code}` | {kind.severity} | {kind.meaning} | {_with_places(kind.repair)} |" for kind in _KINDS]
    return "\n".join(["| code | severity | meaning | repair |", "| --- | --- | --- | --- |", *rows])


def _with_places(repair: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda place: place[1].upper(), repair)
