"""What would move a worker next, in words, from the table of the lifecycle."""

from __future__ import annotations

from llmc.model import Session, Work, Worker

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
