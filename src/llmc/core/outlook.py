"""What would move a worker next, in words, from the table of the lifecycle; and whether its agent would say so."""

from __future__ import annotations

from llmc.model import Session, Turn, Work, Worker

NEXT: dict[Work, tuple[str, ...]] = {
    Work.IDLE: ("`llmc start --worker {name} --prompt ...` gives it a task", "a commit on its branch asks for review"),
    Work.WORKING: (
        "a commit and the end of its turn ask for review",
        "the end of its turn with no commit, a question or a permission dialog ask for you",
    ),
    Work.NEEDS_INPUT: (
        "`llmc message {name} ...` lets it go on; `llmc attach {name}` shows its terminal",
        "`llmc reset {name}` ends the task and keeps a backup",
    ),
    Work.NEEDS_REVIEW: (
        "`llmc review {name}` shows the work",
        "`llmc accept {name}` merges it, `llmc reject {name} ...` sends it back",
    ),
    Work.REJECTED: ("a new commit and the end of its turn ask for review again",),
    Work.REBASING: (
        "the end of the rebase, by git's account, asks for review",
        "`llmc rebase {name}` asks the agent once more; `llmc message {name} ...` tells it something",
        "`llmc attach {name}` to help; `git rebase --abort` there puts the branch back",
    ),
    Work.ERROR: (
        "`llmc restart {name}` when the cause is mended, `llmc message {name} ...` to go on",
        "`llmc reset {name}` ends the task and keeps a backup",
    ),
}


def outlook(worker: Worker) -> tuple[str, ...]:
    moves = [text.format(name=worker.name) for text in NEXT[worker.work]]
    if worker.session in (Session.DOWN, Session.CRASHED):
        moves.insert(0, f"`llmc up`, or `llmc restart {worker.name}`, brings its session back; the work stays")
    if worker.pending:
        moves.insert(0, f"it is in the middle of: {', '.join(step.name for step in worker.pending)}")
    return tuple(moves)


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
