"""The merge train: the order of the works, what is checked and landed next, and whose fault a failure is. Pure.

Works are stacked onto each other in memory, and their trees checked side by side. What matters is the first of the
stack: it stands on nothing but the branch, so what the checks say of it is said of it alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from llmc.core.display import some
from llmc.core.lifecycle.effects import RebaseWork
from llmc.core.lifecycle.transitions.shared import awaits
from llmc.core.prompts.task import failed_check_prompt
from llmc.core.tasks.checks import CheckResult, TreeVerdict
from llmc.model import Work, Worker
from llmc.values import Value


class EntryState(StrEnum):
    WAITING = "waiting"
    CHECKING = "checking"
    LANDING = "landing"
    LANDED = "landed"
    SENT_BACK = "sent back"
    LEFT = "left"

    @property
    def is_open(self) -> bool:
        return self in (EntryState.WAITING, EntryState.CHECKING, EntryState.LANDING)


class TrainEntry(Value):
    """Work that somebody has accepted, and that lands when it is its turn."""

    worker: str
    task: str
    at_unix: float
    message: str | None = None
    changed: bool = False
    tree: str | None = None
    """Only this very tree, as with `accept --tree`."""
    auto: bool = False
    """Nobody has accepted it: it lands unattended, if its checks pass."""
    ordered: bool = False
    """A person gave it its place."""
    state: EntryState = EntryState.WAITING
    detail: str = ""
    result: Mapping[str, Any] | None = None
    """What `accept` answers for it, once it has left."""
    over_at_unix: float = 0.0
    """When it left the train."""
    id: int = 0
    position: int = 0


def by_forecast(entries: Sequence[TrainEntry], clashes: Collection[frozenset[str]]) -> list[TrainEntry]:
    """Those whose place nobody gave, and that nobody is at yet, with the fewest conflicts to come first.

    `clashes`: the pairs of workers whose works will conflict.
    """
    free = [entry for entry in entries if entry.state is EntryState.WAITING and not entry.ordered]
    here = {entry.worker for entry in entries}
    conflicts = {each.worker: sum(each.worker in pair and pair <= here for pair in clashes) for each in free}
    sorted_free: Iterator[TrainEntry] = iter(sorted(free, key=lambda each: (conflicts[each.worker], each.id)))
    return [replace(next(sorted_free), position=entry.position) if entry in free else entry for entry in entries]


def why_out(entry: TrainEntry, worker: Worker | None) -> str:
    """Why the entry is no longer about the worker's present work; empty while it is."""
    if worker is None:
        return f"{entry.worker} was removed"
    if worker.task != entry.task:
        return f"{entry.worker} has another task by now"
    stays = worker.work is Work.NEEDS_REVIEW or is_being_rebased(worker)
    return "" if stays else f"{entry.worker} is {worker.work.value} by now"


def is_being_rebased(worker: Worker) -> bool:
    """By LLMC, for a moment: what conflicts is its agent's."""
    return worker.work is Work.REBASING and awaits(worker, RebaseWork)


# --- what comes next --------------------------------------------------------------------------------

Tries = Mapping[str, Sequence[TreeVerdict]]
"""What the runs of the checks said of each tree, in this run of the train."""


class NextMove(StrEnum):
    WAIT = "wait"
    LAND = "land"
    EXAMINE = "examine"


def next_move(runs: Sequence[TreeVerdict]) -> NextMove:
    """Of the first in the stack. What fails once may be a flake: it is run again on the same tree."""
    if runs and runs[-1].passed:
        return NextMove.LAND
    return NextMove.EXAMINE if len(runs) > 1 else NextMove.WAIT


def to_check(trees: Sequence[str], tries: Tries, running: Collection[str], lanes: int) -> list[str]:
    """What to begin now: the first again if it has failed, then the others ahead of time, in their order."""
    again = [tree for tree in trees[:1] if next_move(tries.get(tree, ())) is NextMove.WAIT]
    ahead = [tree for tree in trees[1:] if not tries.get(tree)]
    wanted = [tree for tree in dict.fromkeys((*again, *ahead)) if tree not in running]
    return wanted[: max(0, lanes - len(running))]


def is_flake(runs: Sequence[TreeVerdict]) -> bool:
    return len(runs) > 1 and runs[-1].passed


# --- whose fault it is ------------------------------------------------------------------------------


class Blame(Value):
    """The other works without which it would not fail; none where it fails by itself."""

    others: tuple[str, ...] = ()
    branch: bool = False
    """It fails on the branch without this work, too."""


def next_trial(before: Sequence[str], fails: Mapping[tuple[str, ...], bool]) -> tuple[str, ...] | Blame:
    """With which works it is to be tried next, or what the trials have shown. `before`: what it was stacked on."""
    if not before or fails.get(()):
        return Blame()
    if () not in fails:
        return ()
    for other in before:
        if (other,) not in fails:
            return (other,)
        if fails[(other,)]:
            return Blame((other,))
    return Blame(tuple(before))


def blame_words(failed: CheckResult, blame: Blame) -> str:
    what = f"`{failed.command}` {failed.problem or 'fails'}"
    if blame.branch:
        return f"{what} on your branch without this work, too"
    if not blame.others:
        return f"{what} on this work by itself"
    whose = "that of" if len(blame.others) == 1 else "all of"
    return f"{what} together with {whose} {some(blame.others)}, and passes without"


def feedback_of(failed: CheckResult, blame: Blame) -> str:
    """For the agent whose work it is."""
    return failed_check_prompt(blame_words(failed, blame), failed.output)
