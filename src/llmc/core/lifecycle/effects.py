"""Everything that a decision can ask the outside world to do.

Lasting effects become steps in the worker's record: they are saved with the decision, carried out
in order, and leave the record with the event that tells their result. Passing effects (a bell) are
carried out at most once and not remembered.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar

from llmc.model import Step
from llmc.values import Value


class Purpose(StrEnum):
    """Why a text is sent: decides what a refusal means."""

    TASK = "task"
    MESSAGE = "message"
    FEEDBACK = "feedback"
    CONFLICT = "conflict"
    GO_ON = "go on"
    """LLMC's own: after a restart, or when what had blocked the agent is over."""
    NUDGE = "nudge"
    """LLMC's own: a question to an agent that gives no sign of life. Nothing depends on it."""


class LastingEffect(Value):
    words: ClassVar[str]
    """What is told of it while it waits."""


class StartSession(LastingEffect):
    words = "its agent is to be started"


class StopSession(LastingEffect):
    words = "its agent is to be ended"

    force: bool = False


class Deliver(LastingEffect):
    words = "a text is to be delivered to its agent"

    text: str
    purpose: str
    last_try: bool = False
    """It got lost once, and the agent was started anew for it."""
    round: int = 0
    """The round of review that it is; 0 for any other text."""


class ClearConversation(LastingEffect):
    words = "its agent is to forget the last conversation"


class RebaseWork(LastingEffect):
    words = "its work is to be rebased"

    onto: str


class AskToResolve(LastingEffect):
    """The agent is asked once more to resolve the conflicts at which its rebase has stopped."""

    words = "its agent is to be asked once more to resolve the conflicts"

    help: bool = False
    """With what usually goes wrong, for an agent that does not get on."""


class CheckResolution(LastingEffect):
    """The agent says that the conflicts are resolved: left-over markers and the repository's own checks tell."""

    words = "what its agent made of the conflicts is to be checked"


class MergeWork(LastingEffect):
    words = "its work is to be merged"

    message: str | None = None
    changed: bool = False
    tree: str | None = None
    unattended: bool = False


class ResetWorktree(LastingEffect):
    """Back to the tip of the branch, with a backup of whatever that drops."""

    words = "its worktree is to be put back to the tip of the branch"

    drops_task: bool = False
    gives_up: bool = False
    """The task was too much for its agent; others may try it."""


class RemoveWorker(LastingEffect):
    """Session, worktree, branch and record go, with a backup of the work."""

    words = "it is to be removed"


class Notify(Value):
    """Tells the person: who, why, and what is asked of them."""

    kind: str
    text: str
    escalates: bool = False
    """LLMC can do no more by itself, or what is to be seen is gone soon: all that is known is written down."""


LASTING: dict[str, type[LastingEffect]] = {
    kind.__name__: kind
    for kind in (
        StartSession,
        StopSession,
        Deliver,
        ClearConversation,
        RebaseWork,
        AskToResolve,
        CheckResolution,
        MergeWork,
        ResetWorktree,
        RemoveWorker,
    )
}

OWNS_WORKTREE = (RebaseWork, MergeWork, ResetWorktree, RemoveWorker)
"""While one of these is pending the worktree is LLMC's and not the agent's."""


def to_step(effect: LastingEffect, step_id: str) -> Step:
    return Step(step_id, type(effect).__name__, MappingProxyType(asdict(effect)))


def from_step(step: Step) -> LastingEffect:
    kind = LASTING[step.name]
    return kind(**{f.name: step.args[f.name] for f in fields(kind) if f.name in step.args})
