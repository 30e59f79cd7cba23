"""Whether a task that came to nothing is given again unasked, to whom, and with which words. Pure.

Only with policy `auto`, only so often as the settings say, and never while the agent asks something.
"""

from __future__ import annotations

from enum import StrEnum

from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.agent_reports import STOPPED
from llmc.core.prompts.task import failed_check_prompt
from llmc.core.tasks.checks import CheckResult
from llmc.core.tasks.task import Failure, Task
from llmc.model import Session, Turn, Work, Worker
from llmc.values import Value

_SAID_BY = ("hook.turn_end", "screen")
_CRASHES = ("process.exit", "session.gone", "session.failed")
RETRIABLE = (Failure.CRASHED.value, Failure.UNDELIVERED.value)


class How(StrEnum):
    MESSAGE = "message"
    """The same worker, which has its conversation."""
    REJECT = "reject"
    """The same, whose work waits for review."""
    ELSEWHERE = "elsewhere"
    """Its worker is reset, and the task goes back into the queue."""


class NextTry(Value):
    how: How
    why: str
    text: str = ""
    """What the agent is told."""


def next_try(
    worker: Worker, task: Task, policy: Policy, retries: int, failed: CheckResult | None = None
) -> NextTry | None:
    """None when it is for a person. `failed`: what the checks of its work found."""
    if not may_retry(task, policy, retries) or worker.task != task.id:
        return None
    return kind_of_try(worker, policy, failed)


def may_retry(task: Task, policy: Policy, retries: int) -> bool:
    return policy.recovers and task.retried < retries


def kind_of_try(worker: Worker, policy: Policy, failed: CheckResult | None = None) -> NextTry | None:
    """What the worker's record alone says of it."""
    at_rest = not worker.pending and worker.blocked is None and not worker.start_dialog
    if not policy.recovers or not worker.task or not at_rest:
        return None
    if worker.work is Work.ERROR:
        return _elsewhere(worker, policy)
    if worker.session is not Session.UP or worker.turn is Turn.OPEN:
        return None
    if failed is not None and worker.work is Work.NEEDS_REVIEW:
        why = f"`{failed.command}` {failed.problem or 'fails'}"
        return NextTry(How.REJECT, why, failed_check_prompt(why, failed.output))
    return NextTry(How.MESSAGE, worker.evidence.detail, _go_on_text(worker)) if _stopped(worker) else None


def _stopped(worker: Worker) -> bool:
    """It ended its turn without a commit, and asked nothing."""
    said = worker.evidence.signal in _SAID_BY and worker.evidence.detail.startswith(STOPPED)
    return worker.work is Work.NEEDS_INPUT and said and not worker.last_words.rstrip().endswith("?")


def _elsewhere(worker: Worker, policy: Policy) -> NextTry | None:
    crashed = worker.evidence.signal in _CRASHES and worker.crash_count >= max(1, policy.crash_limit)
    undelivered = worker.evidence.signal == "delivery" and worker.resume_work is Work.IDLE
    return NextTry(How.ELSEWHERE, worker.evidence.detail) if crashed or undelivered else None


def _go_on_text(worker: Worker) -> str:
    said = f" The last that you said: {worker.last_words}" if worker.last_words else ""
    return (
        f"You {worker.evidence.detail.partition(':')[0]}, and the task is not done.{said}\n"
        "Look at `git status` and `git log` to see how far you got, finish the task and commit the result. If you "
        "cannot go on without an answer, ask for it.\n"
    )


def words_about(task: Task) -> str:
    """What is added to the text of a task that another worker has failed at."""
    return (
        f"Note: this task was given to a worker before and came to nothing: {task.reason}. You begin anew from the "
        "branch; nothing of that try is in your worktree."
    )
