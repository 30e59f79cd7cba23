"""Works stacked onto each other in memory, each as the commit that it would land as. No worktree is touched."""

from __future__ import annotations

from collections.abc import Sequence

from llmc.core.landing.commit_message import message_for
from llmc.git.history import messages_of, own_commits
from llmc.git.land import squash
from llmc.git.parse import encode
from llmc.git.rebase import Conflicts, own_base, would_conflict
from llmc.git.runner import Git
from llmc.values import Value

REFS = "refs/llmc/train/"
"""One for each work, so that no `git gc` takes its commit away. Nobody reads them: an agent could move them."""


class FinishedWork(Value):
    worker: str
    head: str
    recorded_base: str | None
    task: str = ""
    """Its text, for the message."""
    message: str | None = None
    """What a person wants as the message."""


class StackedWork(Value):
    """The work on top of all that is before it in the stack."""

    work: FinishedWork
    commit: str
    tree: str


def stack_works(git: Git, root: str, tip: str, works: Sequence[FinishedWork]) -> list[StackedWork]:
    """In their order, on top of `tip`. What conflicts with those before it, or brings nothing, is left out."""
    stacked: list[StackedWork] = []
    with git.operation:
        for work in works:
            placed = _placed(git, root, tip, stacked[-1].commit if stacked else tip, work)
            stacked += [placed] if placed is not None else []
    return stacked


def _placed(git: Git, root: str, tip: str, onto: str, work: FinishedWork) -> StackedWork | None:
    base = own_base(git, root, tip, work.head, work.recorded_base)
    commits = own_commits(git, root, work.head, base.sha or tip)
    merged = would_conflict(git, root, onto, work.head, base) if commits else Conflicts(())
    if isinstance(merged, Conflicts):
        return None
    message = message_for([work.message] if work.message else list(messages_of(commits)), work.task)
    made = squash(git, root, merged.tree, onto, commits[0], message, signed=False)
    return StackedWork(work, made, merged.tree)


def keep_stack(git: Git, root: str, stacked: Sequence[StackedWork]) -> None:
    """One ref for each; those that an agent has made impossible only cost time, once git has cleared up."""
    orders = (f"option no-deref\nupdate {REFS}{each.work.worker} {each.commit}\n" for each in stacked)
    git.run(root, "update-ref", "--stdin", stdin=encode("".join(orders)), check=False)
