"""Putting the workers' records right: times, commits that do not exist, names that are not their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from llmc.core.lifecycle.clocks import not_after
from llmc.core.lifecycle.effects import LASTING, Deliver
from llmc.doctor.health import BRANCHES, SESSIONS
from llmc.doctor.remains import GitFacts, find_git_facts
from llmc.doctor.repairs import Fix, Repair, RepairContext, RepairStage
from llmc.model import Evidence, State, Work, Worker

SIGNAL = "doctor.repair"
LONGEST_TIMER_SECS = 86_400.0


def records_fix(words: str) -> Fix:
    return Fix("mend records", words, RepairStage.STATE, _correct_records, all_at_once=True)


def _correct_records(context: RepairContext, repair: Repair) -> str:
    site = context.open_site()

    def change(state: State) -> State:
        seen = {key: find_git_facts(site, worker) for key, worker in state.workers.items()}
        return corrected(state, seen, site.root.worktrees, site.config.defaults.agent, context.now)

    site.ledger.state.repair(change)
    return "the records agree with themselves and with git"


def corrected(state: State, seen: Mapping[str, GitFacts], worktrees: str, agent: str, now: float) -> State:
    """The state as every check wants it. What cannot be known is asked of the person: needs_input."""
    workers = {
        key: _corrected_worker(_named(key, worker, worktrees, agent), seen.get(key, GitFacts()), now)
        for key, worker in state.workers.items()
    }
    return replace(state, workers=MappingProxyType(_apart(workers, worktrees)))


def _named(key: str, worker: Worker, worktrees: str, agent: str) -> Worker:
    return replace(
        worker,
        name=key,
        worktree_path=worker.worktree_path or f"{worktrees}/{key}",
        branch=worker.branch or BRANCHES + key,
        session_id=worker.session_id or SESSIONS + key,
        agent=worker.agent or agent,
    )


def _apart(workers: dict[str, Worker], worktrees: str) -> dict[str, Worker]:
    """No two workers have one session or one worktree: those that are shared become everybody's own."""
    sessions = [worker.session_id for worker in workers.values()]
    paths = [worker.worktree_path for worker in workers.values()]
    return {
        key: replace(
            worker,
            session_id=SESSIONS + key if sessions.count(worker.session_id) > 1 else worker.session_id,
            worktree_path=f"{worktrees}/{key}" if paths.count(worker.worktree_path) > 1 else worker.worktree_path,
        )
        for key, worker in workers.items()
    }


def _corrected_worker(worker: Worker, seen: GitFacts, now: float) -> Worker:
    worker = _in_time(worker, now)
    commit = seen.ahead if worker.commit_sha is None or worker.commit_sha in seen.missing else worker.commit_sha
    base = seen.base if worker.base_sha in seen.missing else worker.base_sha
    rejected = None if worker.rejected_sha in seen.missing else worker.rejected_sha
    if worker.work is not Work.NEEDS_REVIEW:
        commit = None if worker.commit_sha is None else commit
    worker = replace(worker, commit_sha=commit, base_sha=base, rejected_sha=rejected)
    if worker.work is Work.NEEDS_REVIEW and commit is None:
        why = "its work was to be reviewed, but its branch holds none"
        return replace(worker, work=Work.NEEDS_INPUT, evidence=Evidence(SIGNAL, now, why))
    return worker


def _in_time(worker: Worker, now: float) -> Worker:
    """All its other times are right since the state was read; see `core/lifecycle/clocks.py`."""
    late = late_timers(worker, now)
    timers = {name: now if name in late else due for name, due in worker.timers.items()}
    created = not_after(worker.created_at_unix, now)
    return replace(worker, created_at_unix=created, timers=MappingProxyType(timers))


def late_timers(worker: Worker, now: float) -> tuple[str, ...]:
    """Those that nobody would have set so far ahead."""
    return tuple(name for name, due in worker.timers.items() if due > now + LONGEST_TIMER_SECS)


def without_error(worker: Worker, now: float) -> Worker:
    """What it was before its error, as far as the record tells."""
    if worker.work is not Work.ERROR:
        return worker
    before = worker.resume_work
    if before in (None, Work.ERROR, Work.REBASING) or (before is Work.NEEDS_REVIEW and worker.commit_sha is None):
        fallback = Work.NEEDS_INPUT if worker.current_prompt else Work.IDLE
        before = Work.NEEDS_REVIEW if worker.commit_sha else fallback
    # Nobody tells whether an agent that has failed still works on its task.
    before = Work.NEEDS_INPUT if before in (Work.WORKING, Work.REJECTED) else before
    assert before is not None
    why = f"the error was cleared: {worker.evidence.detail}"
    return replace(worker, work=before, resume_work=None, crash_count=0, evidence=Evidence(SIGNAL, now, why))


def needs_person(worker: Worker, why: str, now: float) -> Worker:
    return replace(worker, work=Work.NEEDS_INPUT, resume_work=None, evidence=Evidence(SIGNAL, now, why))


def careful(worker: Worker) -> Worker:
    """For a record that may be older than the truth: a text in it may have been sent, and is not sent again."""
    pending = (step for step in worker.pending if step.name in LASTING)
    kept = tuple(replace(step, begun=True) if step.name == Deliver.__name__ else step for step in pending)
    return replace(worker, pending=kept)
