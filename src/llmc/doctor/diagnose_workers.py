"""What is wrong with the workers and with whoever looks after them."""

from __future__ import annotations

from collections.abc import Iterator

from llmc.core.display import age, one_line
from llmc.doctor.findings import Finding, counted, finding, some
from llmc.doctor.health import Absent, Daemon, Found, RootHealth, StateFacts, WorkerHealth
from llmc.doctor.kinds import NOTE
from llmc.model import Session, Work, Worker

WAITING_SECS = 60.0
MISSED_PATROLS = 3
PATROL_SECS = 60.0
"""How often the daemon goes on patrol when the settings do not tell."""

AGENT_AT_WORK = frozenset((Work.WORKING, Work.REJECTED, Work.NEEDS_INPUT))
"""The agent may be in the middle of a rebase or a merge of its own."""


def worker_findings(now: float, root: RootHealth) -> Iterator[Finding]:
    if isinstance(root.state, Found):
        yield from _daemon(now, root, root.state.value)
    if not isinstance(root.workers, Found):
        return
    acted_for = root.acting.value if isinstance(root.acting, Found) else frozenset()
    for each in root.workers.value:
        if each.worker.work is Work.ERROR:
            why = one_line(f"{each.worker.evidence.signal}: {each.worker.evidence.detail}", 200)
            name = each.worker.name
            yield finding("worker-error", f"{name} has stopped with an error", why, worker=name)
        # While somebody acts for a worker, what is half done is not wrong.
        if each.worker.name not in acted_for:
            yield from _worktree(each)
            yield from _session(each)
            yield from _steps(root, each.worker)
        yield from _reports(root, each)


# --- who looks after them -------------------------------------------------------------------------


def _daemon(now: float, root: RootHealth, state: StateFacts) -> Iterator[Finding]:
    if not isinstance(root.daemon, Found):
        return
    daemon = root.daemon.value
    up = [name for name, worker in state.workers.items() if worker.session in (Session.UP, Session.STARTING)]
    if not daemon.running and up:
        what = f"the daemon (pid {daemon.pid}) was ended by force"
        yield finding("daemon-stale", what, f"nobody looks after {some(up)}")
    if daemon.running:
        yield from _stuck(now, root, state, daemon)


def _stuck(now: float, root: RootHealth, state: StateFacts, daemon: Daemon) -> Iterator[Finding]:
    last = state.patrol_last_run_unix
    # A daemon that never went may have been told not to (`--no-patrol`), and without workers there is no need.
    if last is None or last < daemon.since_unix or not state.workers:
        return
    newest = max(worker.created_at_unix for worker in state.workers.values())
    patience = MISSED_PATROLS * _patrol_interval(root)
    if now - max(last, newest) > patience:
        what = f"the daemon (pid {daemon.pid}) was last on patrol {age(now - last)} ago"
        yield finding("daemon-stuck", what, "what its workers do goes unnoticed", pid=str(daemon.pid))


def _patrol_interval(root: RootHealth) -> float:
    if isinstance(root.settings, Found):
        return max(PATROL_SECS, root.settings.value.patrol_interval_secs)
    return PATROL_SECS


def _unattended(root: RootHealth) -> bool:
    """Whether no daemon runs, for sure."""
    return isinstance(root.daemon, Absent) or (isinstance(root.daemon, Found) and not root.daemon.value.running)


def _steps(root: RootHealth, worker: Worker) -> Iterator[Finding]:
    if worker.pending and _unattended(root):
        steps = some([step.name for step in worker.pending])
        what = f"{worker.name} has {counted(len(worker.pending), 'step')} to take: {steps}"
        yield finding("steps-waiting", what, "nobody acts for it and no daemon runs", worker=worker.name)


def _reports(root: RootHealth, each: WorkerHealth) -> Iterator[Finding]:
    if not isinstance(each.spool, Found):
        return
    name, spool = each.worker.name, each.spool.value
    if spool.waiting and spool.oldest_secs > WAITING_SECS:
        what = f"{name}: {counted(spool.waiting, 'report')} of its agent waiting, for {age(spool.oldest_secs)}"
        if _unattended(root):
            why, severity = "no daemon runs; the next command for this worker takes them too", NOTE
        else:
            why, severity = "the daemon does not take them", None
        yield finding("events-waiting", what, why, worker=name, severity=severity)
    if spool.bad:
        what = f"{name}: {counted(spool.bad, 'report')} of its agent could not be understood"
        path = f"{root.path}/run/spool/{name}/bad"
        yield finding("events-bad", what, "they were set aside and hold up nothing", worker=name, path=path)


# --- where they work ------------------------------------------------------------------------------


def _worktree(each: WorkerHealth) -> Iterator[Finding]:
    worker = each.worker
    name, path = worker.name, worker.worktree_path
    if isinstance(each.directory, Absent):
        yield finding("worktree-missing", f"{name}'s worktree {path} is gone", _kept(each), worker=name)
    elif isinstance(each.record, Absent) or (isinstance(each.record, Found) and each.record.value.missing):
        why = each.record.value.foreign if isinstance(each.record, Found) else ""
        what = f"git does not know {path}, where {name} works, as a worktree" + (f": {why}" if why else "")
        yield finding("worktree-unregistered", what, "commits there do not reach its branch", worker=name)
    else:
        yield from _checked_out(each)
    if isinstance(each.tip, Absent):
        what = f"{name}'s branch {worker.branch} is gone"
        yield finding("branch-missing-for-worker", what, "its work cannot be found", worker=name)
    if isinstance(each.lost_commits, Found) and each.lost_commits.value:
        what = f"{name}'s record names commits that do not exist: {some(each.lost_commits.value)}"
        yield finding("commit-unknown", what, "its work can be neither shown nor accepted", worker=name)


def _kept(each: WorkerHealth) -> str:
    if isinstance(each.tip, Found):
        return "its branch is still there"
    return "so is its branch" if isinstance(each.tip, Absent) else "whether its branch is still there is not known"


def _checked_out(each: WorkerHealth) -> Iterator[Finding]:
    worker, operations, dirty = each.worker, each.operations, each.dirty
    if operations == Found(()):
        yield from _branch(each)
    if worker.pending:
        return  # the steps that wait go on from here
    if isinstance(operations, Found) and operations.value and not _agent_is_at_it(worker):
        operation = operations.value[0]
        what = f"{worker.name}'s worktree is in the middle of a {operation}"
        why = f"the worker is {worker.status}: nobody goes on with it"
        path = worker.worktree_path
        yield finding("rebase-left-over", what, why, worker=worker.name, path=path, operation=operation)
    # Without its branch every file would count as new.
    elif isinstance(dirty, Found) and dirty.value and worker.work is Work.IDLE and isinstance(each.tip, Found):
        what = f"{worker.name} is idle, but has uncommitted changes: {some(dirty.value)}"
        yield finding("worktree-dirty-idle", what, "it cannot get a task like this", worker=worker.name)


def _branch(each: WorkerHealth) -> Iterator[Finding]:
    worker = each.worker
    if isinstance(each.record, Found) and each.record.value.branch != worker.branch:
        there = each.record.value.branch
        what = f"{worker.name}'s worktree has {f'the branch {there}' if there else 'no branch'} checked out"
        why = f"only what is committed on {worker.branch} counts as its work"
        path = worker.worktree_path
        yield finding("worktree-wrong-branch", what, why, worker=worker.name, path=path, branch=worker.branch)


def _agent_is_at_it(worker: Worker) -> bool:
    return worker.work is Work.REBASING or (worker.work in AGENT_AT_WORK and worker.session is Session.UP)


# --- where their agents run -----------------------------------------------------------------------


def _session(each: WorkerHealth) -> Iterator[Finding]:
    worker = each.worker
    if worker.session is not Session.UP:
        return
    match each.terminal:
        case Absent():
            what = f"{worker.name} counts as up, but there is no session {worker.session_id}"
            yield finding("session-missing", what, "the machine or its tmux server was stopped", worker=worker.name)
        case Found(terminal) if not terminal.alive:
            what = f"{worker.name} counts as up, but its agent has ended"
            yield finding("session-dead", what, terminal.how, worker=worker.name)
