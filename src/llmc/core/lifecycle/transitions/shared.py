"""The changes that several moves share."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from llmc.core.lifecycle.effects import LastingEffect, Notify, StartSession, StopSession, from_step, to_step
from llmc.errors import IllegalEventError
from llmc.model import Session, Step, Work, Worker
from llmc.values import Value

COMMIT_GRACE = "commit_grace"
ELSEWHERE_GRACE = "elsewhere_grace"
REBASE_HELP = "rebase_help"
REBASE_ESCALATE = "rebase_escalate"
RESTART = "restart"
WORK_TIMERS = (COMMIT_GRACE, ELSEWHERE_GRACE, REBASE_HELP, REBASE_ESCALATE)


class Move(Value):
    """What an event leads to: the worker afterwards, who is told, and what the evidence says."""

    worker: Worker
    notices: tuple[Notify, ...] = ()
    detail: str = ""
    evident: bool = False
    """The detail is why the worker is as it is, although that is what it was before."""
    is_activity: bool = True
    """Whether it is a sign of life."""


def with_steps(worker: Worker, *effects: LastingEffect) -> Worker:
    first = worker.step_count + 1
    steps = tuple(to_step(effect, f"{worker.name}-{first + n}") for n, effect in enumerate(effects))
    return replace(worker, pending=worker.pending + steps, step_count=worker.step_count + len(steps))


def without_step(worker: Worker, step_id: str) -> Worker:
    return replace(worker, pending=tuple(step for step in worker.pending if step.id != step_id))


def without_work_steps(worker: Worker) -> Worker:
    """What was planned for the work does not happen; what was planned for the session does."""
    kept = tuple(step for step in worker.pending if isinstance(from_step(step), StartSession | StopSession))
    return replace(worker, pending=kept)


def with_timer(worker: Worker, name: str, due: float) -> Worker:
    return replace(worker, timers=MappingProxyType({**worker.timers, name: due}))


def without_timer(worker: Worker, *names: str) -> Worker:
    return replace(worker, timers=MappingProxyType({k: v for k, v in worker.timers.items() if k not in names}))


def pending_step(worker: Worker, step_id: str) -> Step | None:
    return next((step for step in worker.pending if step.id == step_id), None)


def awaits(worker: Worker, *kinds: type[LastingEffect]) -> bool:
    return any(isinstance(from_step(step), kinds) for step in worker.pending)


def require_free(worker: Worker) -> None:
    if worker.start_dialog:
        raise IllegalEventError(
            f"{worker.name} asks something before it takes a prompt: {worker.start_dialog}",
            f"answer it first: `llmc answer {worker.name} ...`; `llmc peek {worker.name}` shows it",
        )
    if worker.pending:
        doing = worker.pending[0].name
        raise IllegalEventError(
            f"{worker.name} is in the middle of something ({doing})",
            f"wait a moment, or see `llmc explain {worker.name}`",
        )


def require_online(worker: Worker) -> None:
    if worker.session is not Session.UP:
        raise IllegalEventError(
            f"{worker.name} is not running (its session is {worker.session.value})",
            f"`llmc up` brings all workers up, `llmc restart {worker.name}` this one",
        )


def idle(worker: Worker) -> Worker:
    """No task: nothing of the last one is left."""
    return without_timer(
        replace(
            worker,
            work=Work.IDLE,
            current_prompt="",
            task="",
            commit_sha=None,
            rejected_sha=None,
            reviewed=None,
            resume_work=None,
            rebase_started_at_unix=None,
            conflicted_files=(),
            resolution_attempts=0,
            conversation="",
            last_words="",
            feedback="",
            round=0,
            blocked=None,
            retries=0,
            nudges=0,
            nudged_at_unix=None,
        ),
        *WORK_TIMERS,
    )


def return_to(worker: Worker, work: Work) -> Worker:
    if work is Work.IDLE:
        return idle(worker)
    if work is Work.NEEDS_REVIEW and worker.commit_sha is None:
        work = Work.NEEDS_INPUT  # the work to review is gone meanwhile
    return replace(worker, work=work, resume_work=_after_error(worker) if work is Work.ERROR else None)


def _after_error(worker: Worker) -> Work:
    """What the worker goes on with when its error is fixed, as far as the record itself tells."""
    if worker.commit_sha is not None:
        return Work.NEEDS_REVIEW
    return Work.NEEDS_INPUT if worker.current_prompt else Work.IDLE


def undone(worker: Worker, before: Work) -> Worker:
    """Back to what was: nothing of what was asked for has happened."""
    rejected = None if worker.work is Work.REJECTED else worker.rejected_sha
    return replace(return_to(worker, before), rejected_sha=rejected)


def for_review(worker: Worker, sha: str) -> Move:
    ready = replace(
        without_timer(worker, *WORK_TIMERS),
        work=Work.NEEDS_REVIEW,
        commit_sha=sha,
        resume_work=None,
        rebase_started_at_unix=None,
        conflicted_files=(),
    )
    notice = Notify("needs_review", f"{worker.name} has work to review: `llmc review {worker.name}`")
    return Move(ready, (notice,), f"commit {sha[:12]}")


BY_MESSAGE = "`llmc message {name} ...` lets it go on"
BY_ANSWER = "`llmc answer {name} yes`, or no, or a number; `llmc peek {name}` shows it"
"""The words by which the person lets a worker go on."""


def waits_for_person(worker: Worker, why: str, how: str) -> Notify:
    words = how.format(name=worker.name)
    said = why if words in why else f"{why}; {words}"
    return Notify("needs_input", f"{worker.name} waits for you: {said}")


def needs_input(worker: Worker, why: str, how: str = BY_MESSAGE) -> Move:
    return Move(replace(worker, work=Work.NEEDS_INPUT, resume_work=None), (waits_for_person(worker, why, how),), why)


def with_tip(worker: Worker, sha: str | None) -> Worker:
    """The same work under another commit: the reviewer's verdict follows it through the rewrite."""
    verdict = worker.rejected_sha
    return replace(worker, commit_sha=sha, rejected_sha=sha if verdict and verdict == worker.commit_sha else verdict)


def about_joined(worker: Worker, joined: bool) -> tuple[Notify, ...]:
    if not joined:
        return ()
    told = "its commits are one now, because replayed one by one they would have lost something"
    return (Notify("joined", f"{worker.name}: {told}; `llmc undo {worker.name}` has them as they were"),)


def with_last_words(what: str, worker: Worker) -> str:
    return f"{what}: {worker.last_words}" if worker.last_words else what


def not_on_its_branch(worker: Worker, where: str) -> str:
    return f"its commits are on {where}, not on its branch {worker.branch}"


def not_ours(words: str) -> str:
    return f"its worktree is not LLMC's any more: {words}; `llmc doctor` says what to do"


def error(worker: Worker, why: str) -> Move:
    before = worker.resume_work if worker.work is Work.ERROR else worker.work
    failed = replace(worker, work=Work.ERROR, resume_work=before)
    return Move(failed, (Notify("error", f"{worker.name}: {why}", escalates=True),), why)


def is_outdated(worker: Worker, at: float) -> bool:
    """Whether something has happened since the screen was looked at: then it shows what was before."""
    return at < worker.last_activity_unix


def is_new_work(worker: Worker, sha: str | None) -> bool:
    return sha is not None and sha != worker.rejected_sha
