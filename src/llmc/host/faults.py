"""For tests: a process that ends abruptly at a place of their choice, as a crash or a power cut would end it.

`LLMC_FAULT=accept.squashed llmc accept adam` kills the command right after that moment. Nothing else reads the
variable, and without it `reached` does nothing.
"""

from __future__ import annotations

import os
import signal
from enum import StrEnum

VARIABLE = "LLMC_FAULT"


class Moment(StrEnum):
    """The moments between two steps of whatever could lose work. Each is named by what has just happened."""

    ACCEPT_DECIDED = "accept.decided"
    ACCEPT_BEGUN = "accept.begun"
    ACCEPT_SQUASHED = "accept.squashed"
    ACCEPT_NOTED = "accept.noted"
    ACCEPT_CHECK_RAN = "accept.check-ran"
    ACCEPT_CHECK_KEPT = "accept.check-kept"
    ACCEPT_VALIDATED = "accept.validated"
    ACCEPT_COPIED = "accept.copied"
    ACCEPT_JOURNALED = "accept.journaled"
    ACCEPT_MOVED = "accept.moved"
    ACCEPT_LANDED = "accept.landed"
    ACCEPT_RECORDED = "accept.recorded"
    TRAIN_JOINED = "train.joined"
    TRAIN_STACKED = "train.stacked"
    TRAIN_CHECKED = "train.checked"
    TRAIN_BEGUN = "train.begun"
    TRAIN_LANDED = "train.landed"
    TRAIN_RECORDED = "train.recorded"
    TRAIN_SENT_BACK = "train.sent-back"
    TAKEBACK_UNLOCKED = "takeback.unlocked"
    TAKEBACK_REMOVED = "takeback.removed"
    TAKEBACK_PUT_BACK = "takeback.put-back"
    TAKEBACK_INDEXED = "takeback.indexed"
    TAKEBACK_CLOSED = "takeback.closed"
    REBASE_DECIDED = "rebase.decided"
    REBASE_BACKED_UP = "rebase.backed-up"
    REBASE_MOVED = "rebase.moved"
    REBASE_RECORDED = "rebase.recorded"
    RESET_DECIDED = "reset.decided"
    RESET_BACKED_UP = "reset.backed-up"
    RESET_CHECKED_OUT = "reset.checked-out"
    RESET_CLEANED = "reset.cleaned"
    RESET_RECORDED = "reset.recorded"
    NUKE_DECIDED = "nuke.decided"
    NUKE_STOPPED = "nuke.stopped"
    NUKE_BACKED_UP = "nuke.backed-up"
    NUKE_WORKTREE_REMOVED = "nuke.worktree-removed"
    NUKE_BRANCH_DELETED = "nuke.branch-deleted"
    NUKE_FILES_REMOVED = "nuke.files-removed"
    NUKE_FORGOTTEN = "nuke.forgotten"
    REVERT_COMMITTED = "revert.committed"
    REVERT_LANDED = "revert.landed"
    TASK_ADMITTED = "task.admitted"
    TASK_SAVED = "task.saved"
    TASK_NOTED = "task.noted"
    TASK_ENDED = "task.ended"
    UNDO_BACKED_UP = "undo.backed-up"
    UNDO_RESTORED = "undo.restored"


def reached(moment: Moment) -> None:
    if os.environ.get(VARIABLE) == moment:
        os.kill(os.getpid(), signal.SIGKILL)
