"""From what is wrong to what is done about it. Pure: findings in, a list of repairs out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from llmc.doctor.findings import Finding


class Do(StrEnum):
    MAKE_DIRECTORY = "make a directory"
    MAKE_WRITABLE = "make writable"
    REPLACE_DIRECTORY = "replace what is no directory"
    CLOSE_TO_OTHERS = "close to others"
    MEND_CLONE = "mend the clone"
    WRITE_SETTINGS = "write settings"
    TURN_ON = "turn on"
    FOLLOW_SOURCE = "follow the source"
    REMOVE_LOCK = "remove a lock"
    REMOVE_SOURCE_LOCK = "remove a lock of the source"
    SETTLE_LANDINGS = "settle landings"
    MEND_REF = "mend a ref"
    RECOVER_STATE = "recover the state"
    """In one of the three ways that follow, which a person may choose."""
    RESTORE_BACKUP = "restore the backup"
    REBUILD_STATE = "rebuild the state"
    FRESH_STATE = "begin a fresh state"
    MEND_RECORDS = "mend records"
    RESTORE_BRANCH = "restore a branch"
    MAKE_WORKTREE = "make a worktree"
    CONNECT_WORKTREE = "connect a worktree"
    LEAVE_OPERATION = "leave an operation"
    PUT_ON_BRANCH = "put on its branch"
    REMOVE_WORKTREE = "remove a worktree"
    ADOPT_WORKTREE = "adopt a worktree"
    KEEP_BRANCH = "keep a branch as a backup"
    END_SESSION = "end a session"
    END_STRAYS = "end strays"
    NOTE_SESSION = "note a lost session"
    TAKE_REPORTS = "take reports"
    TAKE_STEPS = "take steps"
    RESET = "reset"
    CLEAR_ERROR = "clear an error"
    FORGET_DAEMON = "forget a daemon"
    SET_LOG_ASIDE = "set a log aside"
    REMOVE_FILES = "remove files"


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing to do, and the words for it."""

    do: Do
    words: str
    worker: str | None = None
    subject: str = ""


_REPAIRS: Mapping[str, tuple[Do, str]] = {
    "worktrees-missing": (Do.MAKE_DIRECTORY, "make the directory {subject}"),
    "directory-replaced": (Do.REPLACE_DIRECTORY, "set {subject} aside and make the directory"),
    "root-read-only": (Do.MAKE_WRITABLE, "let you write to {subject}"),
    "modes-open": (Do.CLOSE_TO_OTHERS, "keep other users out of {subject}"),
    "clone-broken": (Do.MEND_CLONE, "mend LLMC's clone; if it is gone, copy the source again"),
    "config-missing": (Do.WRITE_SETTINGS, "write {subject} with the source and the branch that the clone knows"),
    "rerere-off": (Do.TURN_ON, "turn {subject} on in the clone"),
    "source-differs": (Do.FOLLOW_SOURCE, "let the clone follow {subject}"),
    "git-lock-left-over": (Do.REMOVE_LOCK, "remove {subject}"),
    "source-lock-left-over": (Do.REMOVE_SOURCE_LOCK, "remove {subject}"),
    "ref-broken": (Do.MEND_REF, "put {subject} back where it last stood; what is there is kept aside"),
    "state-missing": (Do.RECOVER_STATE, "make state.json again"),
    "state-broken": (Do.RECOVER_STATE, "make state.json again; the damaged one is kept aside"),
    "state-inconsistent": (Do.MEND_RECORDS, "put right what contradicts itself in state.json"),
    "clock-jumped": (Do.MEND_RECORDS, "set times that lie in the future to now"),
    "commit-unknown": (Do.MEND_RECORDS, "let the records name commits that there are"),
    "landing-cut-short": (Do.SETTLE_LANDINGS, "finish or take back what was being landed; your own changes stay"),
    "branch-missing-for-worker": (Do.RESTORE_BRANCH, "bring {worker}'s branch back where it last stood"),
    "worktree-missing": (Do.MAKE_WORKTREE, "make {worker}'s worktree again from its branch"),
    "worktree-unregistered": (Do.CONNECT_WORKTREE, "make {worker}'s directory a worktree again; its files stay"),
    "rebase-left-over": (Do.LEAVE_OPERATION, "take {worker}'s worktree back to before; what is there is backed up"),
    "worktree-wrong-branch": (Do.PUT_ON_BRANCH, "put {worker}'s worktree on its branch; every commit is kept"),
    "worktree-orphaned": (Do.REMOVE_WORKTREE, "back up the worktree {subject}, which has no worker, and remove it"),
    "branch-orphaned": (Do.KEEP_BRANCH, "keep the branch {subject} as a backup and remove it"),
    "session-orphaned": (Do.END_SESSION, "end the session {subject} with all that runs in it"),
    "process-stray": (Do.END_STRAYS, "end the programs that {subject}'s agent has left behind"),
    "session-missing": (Do.NOTE_SESSION, "note that {worker} is offline; its work stays"),
    "session-dead": (Do.NOTE_SESSION, "note how {worker}'s agent ended; its work stays"),
    "events-waiting": (Do.TAKE_REPORTS, "take the reports of {worker}'s agent"),
    "steps-waiting": (Do.TAKE_STEPS, "take the steps that {worker} was left with"),
    "worker-error": (Do.CLEAR_ERROR, "let {worker} be what it was before its error; its work stays"),
    "worktree-dirty-idle": (Do.RESET, "set {worker}'s uncommitted changes aside in a backup"),
    "daemon-stale": (Do.FORGET_DAEMON, "forget the daemon that was ended by force"),
    "log-unreadable": (Do.SET_LOG_ASIDE, "set {subject} aside; a new one begins"),
    "files-left-over": (Do.REMOVE_FILES, "remove the files that belong to nobody"),
}
"""In this order: what others need comes first."""

_ORDER = tuple(_REPAIRS)


def repairs_for(findings: Iterable[Finding]) -> tuple[Repair, ...]:
    """What can be done about them, in order, each thing once. The others are for a person."""
    known = sorted((each for each in findings if each.code in _REPAIRS), key=lambda each: _ORDER.index(each.code))
    orphans = {each.subject for each in known if each.code == "worktree-orphaned"}
    return tuple(dict.fromkeys(_repair(each) for each in known if not _waits_for(orphans, each)))


def _waits_for(orphans: set[str], found: Finding) -> bool:
    """A worktree may become a worker again, and then its branch, its session and its programs are that worker's."""
    own = {"branch-orphaned": "llmc/", "session-orphaned": "llmc-", "process-stray": ""}
    return found.code in own and found.subject.removeprefix(own[found.code]) in orphans


def _repair(found: Finding) -> Repair:
    do, words = _REPAIRS[found.code]
    # Records are mended all at once: what one says may depend on the others.
    worker = None if do is Do.MEND_RECORDS else found.worker
    subject = "" if do is Do.MEND_RECORDS else found.subject
    return Repair(do, words.format(worker=found.worker, subject=found.subject), worker, subject)


def is_repairable(found: Finding) -> bool:
    return found.code in _REPAIRS
