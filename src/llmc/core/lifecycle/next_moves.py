"""What would move a worker next, in words, what a person can type, and whether its agent would say so."""

from __future__ import annotations

from collections.abc import Iterator

from llmc.core.display import age
from llmc.core.lifecycle.effects import LASTING
from llmc.core.lifecycle.policy import Policy
from llmc.core.lifecycle.transitions.interrupts import BUDGET
from llmc.model import Session, Turn, Work, Worker

NEXT: dict[Work, tuple[str, ...]] = {
    Work.IDLE: ("`llmc start --worker {name} --prompt ...` gives it a task", "a commit on its branch asks for review"),
    Work.WORKING: (
        "a commit and the end of its turn ask for review",
        "the end of its turn with no commit, a question or a permission dialog ask for you",
        "`llmc message {name} ...` adds to its task; `llmc attach {name}` shows its terminal",
    ),
    Work.NEEDS_INPUT: (
        "`llmc message {name} ...` lets it go on; `llmc answer {name} ...` answers its dialog",
        "`llmc attach {name}` shows its terminal",
        "`llmc reset {name}` ends the task and keeps a backup",
    ),
    Work.NEEDS_REVIEW: (
        "`llmc review {name}` shows the work",
        "`llmc accept {name}` merges it, `llmc reject {name} ...` sends it back",
    ),
    Work.REJECTED: (
        "a new commit and the end of its turn ask for review again",
        "`llmc message {name} ...` adds to what you said; `llmc attach {name}` shows its terminal",
    ),
    Work.REBASING: (
        "the end of the rebase, by git's account, asks for review",
        "`llmc rebase {name}` asks the agent once more; `llmc message {name} ...` tells it something",
        "`llmc attach {name}` to help; `git rebase --abort` there puts the branch back",
    ),
    Work.ERROR: (
        "`llmc restart {name}` when the cause is fixed, `llmc message {name} ...` to go on",
        "`llmc reset {name}` ends the task and keeps a backup",
    ),
}

BUDGET_SPENT = ("`llmc task release {task}` lets it use as much again", *NEXT[Work.NEEDS_INPUT][1:])
"""In place of what moves a worker that was stopped because its budget is spent."""
CHECKS_FAIL = ("`llmc review {name}` shows the work", "its checks fail: `llmc reject {name} ...` sends it back")
"""In place of what moves work that waits for review."""

TIMERS = {
    "restart": "its agent is started again",
    "commit_grace": "its commit alone asks for review",
    "elsewhere_grace": "commits that are not on its branch ask for you",
    "rebase_help": "its agent is helped with the conflicts",
    "rebase_escalate": "the conflicts ask for you",
    "go_on": "its agent is told to go on",
}
BY_ITSELF = frozenset(("restart", "rebase_help", "go_on"))
"""What only the policy `auto` does. A timer may be left from before the policy was changed."""


def outlook(worker: Worker, now: float, policy: Policy, *, checks_fail: bool = False) -> tuple[str, ...]:
    """What is under way comes first, then what brings the session back, then what moves the work."""
    words = CHECKS_FAIL if checks_fail else NEXT[worker.work]
    if worker.work is Work.NEEDS_INPUT and worker.task and worker.evidence.signal == BUDGET:
        words = BUDGET_SPENT
    moves = [text.format(name=worker.name, task=worker.task) for text in words]
    under_way = (*_steps(worker), *_timers(worker, now, policy), *_setup(worker))
    return (*under_way, *_session(worker), *_conflicts(worker), *moves)


def _steps(worker: Worker) -> Iterator[str]:
    for step in worker.pending:
        begun = ", and was begun" if step.begun else ""
        yield f"{LASTING[step.name].words}{begun}"
    if worker.pending:
        yield "if nobody acts for it (see the lock above), `llmc up` or `llmc doctor --repair` takes these steps"


def _timers(worker: Worker, now: float, policy: Policy) -> Iterator[str]:
    for timer, due in worker.timers.items():
        if timer in BY_ITSELF and not policy.recovers:
            continue
        when = f"in {age(due - now)}" if due > now else "at the next look"
        yield f"{when}: {TIMERS.get(timer, timer)}"


def _setup(worker: Worker) -> Iterator[str]:
    shows = f"`llmc logs {worker.name} --setup` shows what its setup says"
    if worker.evidence.signal == "setup":
        yield f"{shows}; its agent is started when that has succeeded"
    elif worker.evidence.signal == "setup.failed":
        yield f"{shows}; `llmc restart {worker.name}` runs it again"


def _session(worker: Worker) -> Iterator[str]:
    match worker.session:
        case Session.STARTING:
            yield f"the prompt of its agent ends the start; `llmc logs {worker.name}` tells how far it is"
        case Session.CRASHED | Session.DOWN:
            yield f"`llmc up`, or `llmc restart {worker.name}`, brings its session back; the work stays"
        case Session.UP:
            return


def _conflicts(worker: Worker) -> Iterator[str]:
    if worker.work is Work.REBASING and worker.conflicted_files:
        yield f"conflicts are to be resolved in {', '.join(worker.conflicted_files)}"


OTHERS_DECIDE = "git, its process and its screen decide"


def reporting(worker: Worker, *, can_report: bool, reports_start: bool) -> str:
    """Whether the agent reports by itself, and what shows it. Some can prove it only with their first prompt."""
    if worker.reports_events:
        return "the agent reports by itself"
    if not can_report:
        return f"{worker.agent} does not report: {OTHERS_DECIDE}"
    if worker.session is not Session.UP:
        return "no agent runs that could report"
    if worker.turn is Turn.UNKNOWN:
        return f"it was given a text and did not report it: {OTHERS_DECIDE}"
    if reports_start:
        return f"it did not report its start: {OTHERS_DECIDE}"
    return f"not proven yet: {worker.agent} reports for the first time when it is given a text"
