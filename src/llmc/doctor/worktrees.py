"""Where the workers work: their worktrees and branches, and directories that belong to nobody.

A repair keeps every commit and every file: in place, in a backup, or aside.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from llmc.core.display import some
from llmc.core.lifecycle import events as ev
from llmc.core.names import name_problem
from llmc.doctor.answers import Absent, Answer, Found, OfWorker, Unknown, both, given, known, probe, there
from llmc.doctor.clone import REASON, CloneFacts, CloneSeen, WorktreeRecord
from llmc.doctor.daemon import acted_for, names_in_use, settled_status
from llmc.doctor.findings import Finding, Topic
from llmc.doctor.health import BRANCHES, Health, Looking
from llmc.doctor.remains import find_remains_of, rebuilt
from llmc.doctor.repairs import Repair, RepairChoice, RepairContext, RepairStage, change_worker, fix
from llmc.doctor.root_files import RootFilesSeen
from llmc.doctor.state import workers_of
from llmc.doctor.worker_records import needs_person, records_fix
from llmc.errors import LlmcError
from llmc.git.backup import backup_branch, list_backups, make_backup
from llmc.git.clone import UPSTREAM
from llmc.git.repair import leave_operation, make_ours, put_on_branch, restore_branch
from llmc.git.repository import branch_tip, current_branch, missing_commits, operations, resolve, status
from llmc.git.runner import Git
from llmc.git.worktree import delete_branch, find_worktree, remove_worktree, reset_in_place
from llmc.git.worktree_identity import foreign_git
from llmc.model import Session, Work, Worker
from llmc.perform.branches import forget_files, forget_locks
from llmc.perform.steps import decide_and_run
from llmc.perform.worktrees import restore_worktree
from llmc.root import Root
from llmc.site import Site
from llmc.values import Value

TOPIC = Topic("worktrees")
AGENT_AT_WORK = frozenset((Work.WORKING, Work.REJECTED, Work.NEEDS_INPUT))
"""The agent may be in the middle of a rebase or a merge of its own."""


# --- look -----------------------------------------------------------------------------------------


class WorktreeSeen(OfWorker):
    directory: Answer[str] = field(metadata=TOPIC.asks("its worktree"))
    record: Answer[WorktreeRecord] = field(metadata=TOPIC.asks("git's record of its worktree"))
    operations: Answer[tuple[str, ...]] = field(metadata=TOPIC.asks("what git is in the middle of"))
    dirty: Answer[tuple[str, ...]] = field(metadata=TOPIC.asks("uncommitted changes"))
    lost_commits: Answer[tuple[str, ...]] = field(metadata=TOPIC.asks("its commits"))
    """Those that its record names and that do not exist."""


class WorktreesSeen(Value):
    of_workers: Answer[tuple[WorktreeSeen, ...]] = field(metadata=TOPIC.asks("the worktrees of the workers"))


def look(looking: Looking, seen: Health) -> WorktreesSeen:
    clone, workers = both(looking.git, seen.of(CloneSeen).clone), looking.workers.values()
    look_at = partial(_look_at_worktree, looking, clone)
    return WorktreesSeen(given(looking.state, lambda _: Found(tuple(map(look_at, workers)))))


def _look_at_worktree(looking: Looking, clone: Answer[tuple[Git, CloneFacts]], worker: Worker) -> WorktreeSeen:
    root, path = looking.root, worker.worktree_path
    directory = probe(lambda: Found(path) if looking.host.is_dir(path) else Absent())
    record = given(clone, lambda of: _look_at_record(*of, root, worker))
    checkout = _checkout(looking.git, directory, record)
    named = [sha for sha in (worker.commit_sha, worker.base_sha) if sha]
    return WorktreeSeen(
        worker,
        directory,
        record,
        operations=given(checkout, lambda git: Found(tuple(map(str, operations(git, path))))),
        dirty=given(checkout, lambda git: Found(tuple(each.path for each in status(git, path)))),
        lost_commits=given(clone, lambda of: Found(missing_commits(of[0], root.path, named))),
    )


def _look_at_record(git: Git, clone: CloneFacts, root: Root, worker: Worker) -> Answer[WorktreeRecord]:
    path = worker.worktree_path
    real = git.host.real_path(path)
    record = next((each for each in clone.worktrees if each.path == real), None)
    if record is None or record.missing or not git.host.is_dir(path):
        return there(record)
    # Git lists a record without looking whether it is whole, and whether the directory is still of this repository.
    foreign = foreign_git(git.host, root.path, posixpath.basename(path))
    return Found(replace(record, missing=foreign is not None, foreign=foreign or ""))


def _checkout(git: Answer[Git], directory: Answer[str], record: Answer[WorktreeRecord]) -> Answer[Git]:
    """Git, where there is a worktree to ask it about: in any other directory it would answer for another repository."""
    is_worktree = isinstance(directory, Found) and isinstance(record, Found) and not record.value.missing
    return git if is_worktree else Unknown("there is no worktree", covered=True)


# --- repair ---------------------------------------------------------------------------------------


@fix(RepairStage.WORKTREES, "restore a branch", "bring {worker}'s branch back where it last stood")
def _restore_branch(context: RepairContext, repair: Repair) -> str:
    with context.acting_for(repair) as (site, worker):
        sha = _restore(site, worker.name, worker.branch, worker.commit_sha, worker.base_sha)
    return f"{worker.branch} is at {sha[:12]}"


def _restore(site: Site, name: str, branch: str, commit: str | None = None, base: str | None = None) -> str:
    backups = [each.branch_sha for each in list_backups(site.git, site.root.path, name) if each.branch == branch]
    upstream = resolve(site.git, site.root.path, UPSTREAM + site.config.repo.branch)
    return restore_branch(site.git, site.root.path, name, branch, (commit, *backups[:1], base, upstream))


@fix(RepairStage.WORKTREES, "make a worktree", "make {worker}'s worktree again from its branch")
def _make_again(context: RepairContext, repair: Repair) -> str:
    """With its agent in it: one that runs in the directory that was removed sees nothing of the new one."""
    with context.acting_for(repair) as (site, worker):
        kept = restore_worktree(site, worker)
        pane = site.tmux.panes().get(worker.session_id)
        if pane is None or pane.dead:
            return f"made {worker.worktree_path}{kept}"
        decide_and_run(site, worker.name, ev.StopAsked(site.now()))
        decide_and_run(site, worker.name, ev.StartAsked(site.now()))
    return f"made {worker.worktree_path} and started its agent in it{kept}"


@fix(RepairStage.WORKTREES, "connect a worktree", "make {worker}'s directory a worktree again; its files stay")
def _connect(context: RepairContext, repair: Repair) -> str:
    with context.acting_for(repair) as (site, worker):
        words = make_ours(site.git, site.root.path, worker.name, worker.branch, context.aside)
    return f"{worker.worktree_path} is a worktree of {worker.branch}: {words}"


@fix(RepairStage.WORKTREES, "leave an operation", "take {worker}'s worktree back to before; what is there is backed up")
def _leave_operation(context: RepairContext, repair: Repair) -> str:
    with context.acting_for(repair) as (site, worker):
        backup = _back_up(site, worker)
        leave_operation(site.git, worker.worktree_path)
        tip = branch_tip(site.git, site.root.path, worker.branch)
        if tip is not None and current_branch(site.git, worker.worktree_path) != worker.branch:
            reset_in_place(site.git, worker.worktree_path, worker.branch, tip)
    return f"what was there is kept in {backup}"


@fix(RepairStage.WORKTREES, "put on its branch", "put {worker}'s worktree on its branch; every commit is kept")
def _put_back(context: RepairContext, repair: Repair) -> str:
    with context.acting_for(repair) as (site, worker):
        backup = _back_up(site, worker)
        if put_on_branch(site.git, worker.worktree_path, worker.branch):
            return f"{worker.branch} is checked out; what was there is kept in {backup}"
        why = f"commits in its worktree were not on {worker.branch}; they are kept in {backup}"
        change_worker(site, worker.name, lambda worker: needs_person(worker, why, context.now), why)
    return why


def _back_up(site: Site, worker: Worker) -> str:
    made = make_backup(site.git, worker.worktree_path, worker.name, site.now(), branch=worker.branch, reason=REASON)
    if made is None:
        raise LlmcError(f"{worker.name}'s worktree could not be backed up", "nothing was changed")
    return made.ref


@fix(RepairStage.WORKERS, "reset", "set {worker}'s uncommitted changes aside in a backup")
def _reset(context: RepairContext, repair: Repair) -> str:
    with context.acting_for(repair) as (site, worker):
        return settled_status(worker.name, decide_and_run(site, worker.name, ev.ResetAsked(site.now())))


# --- repair of what belongs to nobody -------------------------------------------------------------


def _choose_for_orphan(context: RepairContext, repair: Repair) -> RepairChoice:
    """Work that is in it speaks for a worker whose record was lost."""
    name = repair.subject
    if name_problem(name) is not None:
        return RepairChoice("", (_remove_orphan,), 0)
    holds_work = _holds_work(context, name)
    work = "there is work in it" if holds_work else "there is no work in it"
    question = f"the worktree {name} belongs to no worker; {work}:"
    return RepairChoice(question, (_adopt_orphan, _remove_orphan), 0 if holds_work else 1)


def _holds_work(context: RepairContext, name: str) -> bool:
    try:
        remains = find_remains_of(context.open_site(), name)
    except LlmcError:
        return False
    return bool(remains.has_worktree and (remains.ahead or remains.dirty or remains.alive or remains.rebasing))


@fix(RepairStage.WORKTREES, "remove a worktree", "back it up and remove it")
def _remove_orphan(context: RepairContext, repair: Repair) -> str:
    site, name = context.open_site(), repair.subject
    with site.lock_of(name):
        _require_orphan(site, name)
        words = _remove_directory(context, site, name)
        backup_branch(site.git, site.root.path, name, site.now(), BRANCHES + name, REASON)
        delete_branch(site.git, site.root.path, BRANCHES + name)
        forget_files(site, name)
        forget_locks(site, name)
    return words


def _require_orphan(site: Site, name: str) -> None:
    if name in site.ledger.load().workers:
        raise LlmcError(f"{name} is a worker by now", "nothing was changed")


def _remove_directory(context: RepairContext, site: Site, name: str) -> str:
    path = site.root.worktree(name)
    record = find_worktree(site.git, site.root.path, name)
    if record is not None and not record.missing and name_problem(name) is None:
        backup = make_backup(site.git, path, name, site.now(), reason=REASON)
        if backup is not None and not backup.left_out:
            remove_worktree(site.git, site.root.path, name)
            return f"it is kept in {backup.ref}: `llmc add {name}`, then `llmc undo {name}` brings it back"
    words = f"{path} was empty"
    if Path(path).is_dir() and any(Path(path).iterdir()):
        context.host.move(path, f"{context.aside}/{name}")
        words = f"its files are in {context.aside}/{name} now"
    remove_worktree(site.git, site.root.path, name)
    return words


@fix(RepairStage.WORKTREES, "adopt a worktree", "make it a worker again")
def _adopt_orphan(context: RepairContext, repair: Repair) -> str:
    site, name = context.open_site(), repair.subject
    branch = BRANCHES + name
    with site.lock_of(name):
        _require_orphan(site, name)
        if branch_tip(site.git, site.root.path, branch) is None:
            _restore(site, name, branch)
        record = find_worktree(site.git, site.root.path, name)
        if record is None or record.missing:
            make_ours(site.git, site.root.path, name, branch, context.aside)
        worker = rebuilt(find_remains_of(site, name), context.now).worker
        site.ledger.add(worker)
    return f"{name} is a worker again: {worker.status}"


# --- judgement ------------------------------------------------------------------------------------

BRANCH_MISSING = TOPIC.error(
    "branch-missing-for-worker",
    "a worker's branch is gone",
    "`llmc doctor --repair` brings it back where it last stood",
    _restore_branch,
)
MISSING = TOPIC.error(
    "worktree-missing",
    "a worker's worktree is gone",
    "`llmc doctor --repair` makes it again from its branch",
    _make_again,
)
UNREGISTERED = TOPIC.error(
    "worktree-unregistered",
    "a worker's directory is there, but git does not know it as a worktree",
    "`llmc doctor --repair` makes it a worktree again; its files stay",
    _connect,
)
REBASE_LEFT_OVER = TOPIC.warning(
    "rebase-left-over",
    "a rebase, merge or the like was begun in a worktree and nobody goes on with it",
    "`git -C {path} {operation} --abort`",
    _leave_operation,
)
WRONG_BRANCH = TOPIC.error(
    "worktree-wrong-branch",
    "a worker's worktree has another branch checked out, or none, so that its commits are not noticed",
    "`git -C {path} checkout {branch}`",
    _put_back,
)
DIRTY_IDLE = TOPIC.warning(
    "worktree-dirty-idle",
    "an idle worker has uncommitted changes that belong to no task",
    "`llmc reset {worker}` sets them aside in a backup",
    _reset,
)
ORPHANED = TOPIC.warning(
    "worktree-orphaned",
    "a worktree, or a directory among them, belongs to no worker",
    "`llmc doctor --repair` makes it a worker again if there is work in it, else removes it and keeps a backup",
    replace(
        _remove_orphan,
        words="back up the worktree {subject}, which has no worker, and remove it",
        choose=_choose_for_orphan,
    ),
)
SETUP_FAILED = TOPIC.error(
    "setup-failed",
    "a worker's worktree could not be set up, and its agent was not started",
    "`llmc logs {worker} --setup` shows why; `llmc restart {worker}` runs it again",
)
COMMIT_UNKNOWN = TOPIC.error(
    "commit-unknown",
    "the clone does not have a commit that a worker's record names",
    "`llmc reset {worker}` begins anew; what is left is kept in a backup",
    records_fix("let the records name commits that there are"),
)


def judge(health: Health) -> Iterator[Finding]:
    for each in known(health.of(WorktreesSeen).of_workers, ()):
        if each.worker.name not in acted_for(health):
            yield from _worktree(each, _tip(health, each.worker))
    yield from _orphans(health)


def _tip(health: Health, worker: Worker) -> Answer[str]:
    return given(health.of(CloneSeen).clone, lambda clone: there(clone.heads.get(worker.branch)))


def _worktree(each: WorktreeSeen, tip: Answer[str]) -> Iterator[Finding]:
    worker, record = each.worker, known(each.record, None)
    name, path = worker.name, worker.worktree_path
    if isinstance(each.directory, Absent):
        yield MISSING.finding(f"{name}'s worktree {path} is gone", _what_is_left(tip), worker=name)
    elif isinstance(each.record, Absent) or (record and record.missing):
        foreign = f": {record.foreign}" if record and record.foreign else ""
        what = f"git does not know {path}, where {name} works, as a worktree{foreign}"
        yield UNREGISTERED.finding(what, "commits there do not reach its branch", worker=name)
    else:
        yield from _checked_out(each, tip)
    if isinstance(tip, Absent):
        yield BRANCH_MISSING.finding(
            f"{name}'s branch {worker.branch} is gone", "its work cannot be found", worker=name
        )
    if worker.evidence.signal == "setup.failed":
        yield SETUP_FAILED.finding(f"{name}: {worker.evidence.detail}", "its agent was not started", worker=name)
    if lost := known(each.lost_commits, ()):
        what = f"{name}'s record names commits that do not exist: {some(lost)}"
        yield COMMIT_UNKNOWN.finding(what, "its work can be neither shown nor accepted", worker=name)


def _what_is_left(tip: Answer[str]) -> str:
    if isinstance(tip, Found):
        return "its branch is still there"
    return "so is its branch" if isinstance(tip, Absent) else "whether its branch is still there is not known"


def _checked_out(each: WorktreeSeen, tip: Answer[str]) -> Iterator[Finding]:
    worker, path = each.worker, each.worker.worktree_path
    if each.operations == Found(()):
        yield from _branch(each)
    if worker.pending:
        return  # the steps that wait go on from here
    begun, dirty = known(each.operations, ()), known(each.dirty, ())
    if begun and not _agent_is_at_it(worker):
        what = f"{worker.name}'s worktree is in the middle of a {begun[0]}"
        why = f"the worker is {worker.status}: nobody goes on with it"
        yield REBASE_LEFT_OVER.finding(what, why, worker=worker.name, path=path, operation=begun[0])
    # Without its branch every file would count as new.
    elif dirty and worker.work is Work.IDLE and isinstance(tip, Found):
        what = f"{worker.name} is idle, but has uncommitted changes: {some(dirty)}"
        yield DIRTY_IDLE.finding(what, "it cannot get a task like this", worker=worker.name)


def _branch(each: WorktreeSeen) -> Iterator[Finding]:
    worker, record = each.worker, known(each.record, None)
    if record is not None and record.branch != worker.branch:
        checked_out = f"the branch {record.branch}" if record.branch else "no branch"
        what = f"{worker.name}'s worktree has {checked_out} checked out"
        why = f"only what is committed on {worker.branch} counts as its work"
        path = worker.worktree_path
        yield WRONG_BRANCH.finding(what, why, worker=worker.name, path=path, branch=worker.branch)


def _agent_is_at_it(worker: Worker) -> bool:
    return worker.work is Work.REBASING or (worker.work in AGENT_AT_WORK and worker.session is Session.UP)


def _orphans(health: Health) -> Iterator[Finding]:
    names = names_in_use(health)
    if names is None:
        return
    worktrees, clone = health.root.worktrees, known(health.of(CloneSeen).clone, None)
    found = set(known(health.of(RootFilesSeen).directories, ()))
    found |= {Path(each.path).name for each in clone.worktrees if _is_in(each.path, worktrees)} if clone else set()
    own = names | {Path(worker.worktree_path).name for worker in workers_of(health).values()}
    for name in sorted(found - own):
        why = "a worker was removed or never finished; there may be work in it"
        yield ORPHANED.finding(f"{worktrees}/{name} belongs to no worker", why, subject=name)


def _is_in(path: str, directory: str) -> bool:
    return path.rpartition("/")[0] == directory


def summary(health: Health) -> str:
    return TOPIC.name
