"""What is wrong with LLMC's clone, with the source repository, and what in them belongs to nobody."""

from __future__ import annotations

from collections.abc import Iterator

from llmc.core.display import age
from llmc.doctor.findings import Finding, finding
from llmc.doctor.health import Absent, Broken, Clone, Found, RootHealth, SourceLock, StateFacts

BRANCHES = "llmc/"
SESSIONS = "llmc-"
OLD_LOCK_SECS = 600.0
"""A lock that nobody has may be removed then."""


def repository_findings(now: float, root: RootHealth) -> Iterator[Finding]:
    yield from _source(root)
    match root.clone:
        case Absent():
            yield _clone_broken(root, Broken(f"there is no {root.path}/.git"))
        case Broken():
            yield _clone_broken(root, root.clone)
        case Found(clone):
            yield from _clone(root, clone)
    yield from _refs(root)
    yield from _landings(root, now)
    if isinstance(root.state, Found):
        yield from _orphans(root, root.state.value)


def _clone_broken(root: RootHealth, trouble: Broken) -> Finding:
    why = "the workers' branches and backups are in there"
    return finding("clone-broken", trouble.what, why, repair=trouble.hint, root=root.path)


def _source(root: RootHealth) -> Iterator[Finding]:
    if not isinstance(root.settings, Found):
        return
    settings = root.settings.value
    match root.source:
        case Absent():
            yield _source_gone(root, f"there is nothing at {settings.source}")
        case Broken(what):
            yield _source_gone(root, what)
        case Found(source) if not source.has_branch:
            what = f"{settings.source} has no branch {settings.branch}"
            yield finding("branch-missing", what, "work starts from it and lands on it")


def _source_gone(root: RootHealth, what: str) -> Finding:
    return finding("source-gone", what, "accepted work has nowhere to go", root=root.path)


def _clone(root: RootHealth, clone: Clone) -> Iterator[Finding]:
    for setting in clone.settings_off:
        why = "a conflict that was resolved once comes back"
        what = f"{setting} is off in {root.path}/.git"
        yield finding("rerere-off", what, why, subject=setting, root=root.path, setting=setting)
    if clone.identity_trouble:
        yield finding("identity-missing", "git does not know in whose name to commit", clone.identity_trouble)
    if root.follows_source == Found(False) and isinstance(root.source, Found) and isinstance(root.settings, Found):
        source = root.settings.value.source
        what = f"origin in the worktrees is {clone.origin or 'nothing'}, but accepted work goes to {source}"
        why = "agents that fetch it see something else; LLMC itself uses the latter"
        yield finding("source-differs", what, why, subject=source, root=root.path, source=source)


def _refs(root: RootHealth) -> Iterator[Finding]:
    if isinstance(root.broken_refs, Found):
        for ref in root.broken_refs.value:
            why = "git leaves out what it cannot follow: the work behind it cannot be found"
            yield finding("ref-broken", f"{ref} of {root.path}/.git leads nowhere", why, subject=ref)
    if isinstance(root.git_locks, Found):
        for lock in root.git_locks.value:
            what = f"{lock.path} is {age(lock.age_secs)} old, and no git runs that could have it"
            yield finding("git-lock-left-over", what, "git refuses to work there", subject=lock.path, path=lock.path)


def _landings(root: RootHealth, now: float) -> Iterator[Finding]:
    if isinstance(root.landings, Found):
        for landing in root.landings.value:
            what = f"landing {landing.words} was cut short {age(now - landing.begun_unix)} ago"
            yield finding("landing-cut-short", what, "git shows its files as changes that you did not make")
    if isinstance(root.source_locks, Found):
        for lock in root.source_locks.value:
            yield _source_lock(lock)


def _source_lock(lock: SourceLock) -> Finding:
    why = "git refuses to work there"
    if lock.holder or lock.age_secs <= OLD_LOCK_SECS:
        whose = f"{lock.holder} may have it" if lock.holder else "no process has it"
        what = f"{lock.path} is {age(lock.age_secs)} old; {whose}"
        return finding("source-locked", what, why, subject=lock.path, path=lock.path)
    what = f"{lock.path} is {age(lock.age_secs)} old, and no process has it"
    return finding("source-lock-left-over", what, why, subject=lock.path, path=lock.path)


def _orphans(root: RootHealth, state: StateFacts) -> Iterator[Finding]:
    if not isinstance(root.acting, Found):
        return
    # What somebody is making or removing right now is nobody's orphan.
    names = frozenset(state.workers) | root.acting.value
    workers = state.workers.values()
    yield from _worktrees(root, names | {_last_part(worker.worktree_path) for worker in workers})
    yield from _branches(root, {worker.branch for worker in workers} | {BRANCHES + name for name in names})
    yield from _sessions(root, {worker.session_id for worker in workers} | {SESSIONS + name for name in names})


def _worktrees(root: RootHealth, known: frozenset[str]) -> Iterator[Finding]:
    found = set(root.directories.value) if isinstance(root.directories, Found) else set()
    if isinstance(root.clone, Found):
        paths = (each.path for each in root.clone.value.worktrees)
        found |= {_last_part(path) for path in paths if path.rpartition("/")[0] == f"{root.path}/.worktrees"}
    for name in sorted(found - known):
        what = f"{root.path}/.worktrees/{name} belongs to no worker"
        why = "a worker was removed or never finished; there may be work in it"
        yield finding("worktree-orphaned", what, why, subject=name)


def _branches(root: RootHealth, known: set[str]) -> Iterator[Finding]:
    if isinstance(root.clone, Found):
        for branch in sorted(root.clone.value.heads.keys() - known):
            if branch.startswith(BRANCHES):
                why = "a worker was removed or never finished; the branch may hold work"
                yield finding("branch-orphaned", f"the branch {branch} belongs to no worker", why, subject=branch)


def _sessions(root: RootHealth, known: set[str]) -> Iterator[Finding]:
    if isinstance(root.terminals, Found):
        for terminal in root.terminals.value:
            if terminal.session.startswith(SESSIONS) and terminal.session not in known:
                what = f"the session {terminal.session} belongs to no worker"
                why = "an agent may be at work there unseen"
                name = terminal.session
                yield finding("session-orphaned", what, why, subject=name, socket=root.tmux_socket, session=name)


def _last_part(path: str) -> str:
    return path.rpartition("/")[2]
