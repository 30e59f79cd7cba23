"""What accepting a worker's work will do, as values: the same plan is shown and carried out.

`AcceptFacts` is what git, the settings and the record say. `plan_accept` makes the steps of it, in their order, up to
the first thing that forbids to go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from llmc.core.display import some
from llmc.core.landing.commit_message import message_for
from llmc.model import Work
from llmc.values import Value


class Obstacle(Value):
    """Why the work cannot be accepted, and what to do about it."""

    what: str
    hint: str


class LandingPlace(Value):
    """Where the branch is in the user's repository, and what is there that is not committed."""

    checkout: str | None = None
    kept: tuple[str, ...] = ()
    in_the_way: tuple[str, ...] = ()
    refusal: Obstacle | None = None


class Difference(Value):
    """Between what was reviewed and what would land, the branch's own changes taken out."""

    commit: str
    """What was reviewed."""
    text: str
    """For people, of bounded length."""


class AcceptFacts(Value):
    worker: str
    work: Work
    worktree: str
    worker_branch: str
    checked_out: str | None
    """The branch that the worktree is on; None when HEAD is detached."""
    dirty: tuple[str, ...]
    branch: str
    tip: str
    """Where the branch is now."""
    head: str | None
    """The tip of the worker's branch; None when that is gone."""
    up_to_date: bool = False
    """Whether the work already stands on the tip."""
    commits: tuple[str, ...] = ()
    """The work's own, oldest first."""
    messages: tuple[str, ...] = ()
    author: str = ""
    head_tree: str = ""
    reviewed_tree: str | None = None
    """What the reviewer saw; None when nobody looked."""
    since_review: Difference | None = None
    takes_changed: bool = False
    """The user wants the work also where it has changed since its review."""
    only_tree: str | None = None
    """The user wants no other tree than this one."""
    tree: str | None = None
    """All of the work put onto the tip; None when the two sides conflict."""
    conflicts: tuple[str, ...] = ()
    changes: bool = False
    """Whether that tree differs from the tip's."""
    message: str | None = None
    """What the user wants as the message, if anything."""
    task: str = ""
    signed: bool = False
    checks: tuple[str, ...] = ()
    check_secs: float = 0.0
    unattended: bool = False
    """Nobody has asked for it."""
    turn_is_over: bool = True
    checked: bool | None = None
    """Whether they passed on that very tree; None when nobody knows."""
    place: LandingPlace = LandingPlace()
    others: tuple[str, ...] = ()
    """Whose work waits for review too."""

    @property
    def reviewed(self) -> bool:
        """Whether somebody has seen just this work."""
        return self.reviewed_tree is not None and self.since_review is None


class PlanStep(Value):
    """One step. `verb` names it for scripts, `words` tell it to people."""

    verb: ClassVar[str]

    @property
    def words(self) -> str:
        raise NotImplementedError


class InReview(PlanStep):
    verb = "review"

    commit: str
    reviewed: bool = False

    @property
    def words(self) -> str:
        seen = "the work was reviewed" if self.reviewed else "the work was not reviewed as it is"
        return f"{seen}: {self.commit[:12]}"


class CleanWorktree(PlanStep):
    verb = "clean"

    worktree: str

    @property
    def words(self) -> str:
        return "nothing in its worktree is uncommitted, untracked files included"


class PutOnTop(PlanStep):
    verb = "rebase"

    onto: str
    branch: str
    needed: bool

    @property
    def words(self) -> str:
        if self.needed:
            return f"put the work onto {self.branch} at {self.onto[:12]}; no conflicts"
        return f"not needed: the work stands on {self.branch} at {self.onto[:12]}"


class MakeCommit(PlanStep):
    verb = "squash"

    tree: str
    onto: str
    commits: int
    author: str
    message: str
    signed: bool

    @property
    def words(self) -> str:
        count = "1 commit" if self.commits == 1 else f"{self.commits} commits become one"
        return f"{count}, by {self.author}{', signed' if self.signed else ''}"


class Validate(PlanStep):
    verb = "validate"

    commands: tuple[str, ...]
    timeout_secs: float
    passed: bool | None = None
    """On just this tree, when it was checked before."""

    @property
    def words(self) -> str:
        if not self.commands:
            return "no checks are set (repo.validate)"
        listed = ", ".join(f"`{command}`" for command in self.commands)
        if self.passed:
            return f"not needed: {listed} passed on just this tree"
        where = "on just this tree, in a worktree of LLMC's own"
        return f"run {listed} {where}, each for at most {self.timeout_secs:.0f} s"


class MoveBranch(PlanStep):
    verb = "land"

    branch: str
    expected: str
    checkout: str | None
    kept: tuple[str, ...]

    @property
    def words(self) -> str:
        moved = f"move {self.branch} forward, if it is still at {self.expected[:12]}"
        if self.checkout is None:
            return f"{moved}; it is not checked out"
        kept = f"; local changes stay: {some(self.kept)}" if self.kept else ""
        return f"{moved}, with the files of {self.checkout}{kept}"


class BackToIdle(PlanStep):
    verb = "reset"

    worker: str

    @property
    def words(self) -> str:
        return f"{self.worker} becomes idle, its worktree clean on the new commit"


class BringUpToDate(PlanStep):
    verb = "others"

    workers: tuple[str, ...]

    @property
    def words(self) -> str:
        if not self.workers:
            return "no other work waits for review"
        return f"bring up to date what else waits for review: {', '.join(self.workers)}"


class AcceptPlan(Value):
    worker: str
    branch: str
    steps: tuple[PlanStep, ...]
    obstacle: Obstacle | None = None
    """What comes after the last of the steps, and ends the plan."""
    reviewed: bool = False
    """Whether somebody has seen just this work."""


def plan_accept(facts: AcceptFacts) -> AcceptPlan:
    steps: list[PlanStep] = []
    obstacle = None
    for part in _parts(facts):
        if isinstance(part, Obstacle):
            obstacle = part
            break
        steps += [part] if part is not None else []
    return AcceptPlan(facts.worker, facts.branch, tuple(steps), obstacle, facts.reviewed)


def _parts(facts: AcceptFacts) -> Iterator[PlanStep | Obstacle | None]:
    """The steps in their order, each after what may stand in its way."""
    yield _waits(facts) or _unattended(facts)
    yield InReview(facts.head or "", facts.reviewed)
    yield unclean(facts.worker, facts.worker_branch, facts.checked_out, facts.dirty, "accepted")
    yield CleanWorktree(facts.worktree)
    yield _apart(facts)
    yield PutOnTop(facts.tip, facts.branch, not facts.up_to_date)
    yield _nothing_new(facts) or _another_tree(facts) or _changed_since(facts)
    yield _commit(facts)
    yield Validate(facts.checks, facts.check_secs, facts.checked if facts.checks else None)
    yield _blocked(facts)
    yield MoveBranch(facts.branch, facts.tip, facts.place.checkout, facts.place.kept)
    yield BackToIdle(facts.worker)
    yield BringUpToDate(facts.others)


def _waits(facts: AcceptFacts) -> Obstacle | None:
    name = facts.worker
    if facts.work is not Work.NEEDS_REVIEW:
        return Obstacle(
            f"accept needs a worker that is needs_review; {name} is {facts.work.value}",
            f"`llmc explain {name}` says why, and what comes next",
        )
    if facts.head is None:
        return Obstacle(f"the branch {facts.worker_branch} is gone", "`llmc doctor` says how to bring it back")
    return None


def _unattended(facts: AcceptFacts) -> Obstacle | None:
    if facts.unattended and not facts.checks:
        return Obstacle("nothing lands unattended without checks, and none are set", "set repo.validate")
    if facts.unattended and not facts.turn_is_over:
        return Obstacle(f"{facts.worker} may be in the middle of a turn", "it lands when the turn is over")
    return None


def unclean(worker: str, branch: str, checked_out: str | None, dirty: tuple[str, ...], verb: str) -> Obstacle | None:
    """Why a worktree is in no state to have its branch moved."""
    if checked_out != branch:
        where = f"on {checked_out}" if checked_out else "on no branch at all"
        return Obstacle(
            f"{worker}'s worktree is not on its branch {branch} but {where}",
            f"`llmc attach {worker}` and check {branch} out there",
        )
    if dirty:
        return Obstacle(
            f"{worker} cannot be {verb}: uncommitted changes in {some(dirty)}",
            f"let the agent commit them (`llmc message {worker} ...`) or remove them",
        )
    return None


def _apart(facts: AcceptFacts) -> Obstacle | None:
    if facts.commits and facts.tree is None:
        return Obstacle(
            f"{facts.worker}'s work conflicts with {facts.branch} in {some(facts.conflicts)}",
            f"`llmc rebase {facts.worker}` lets the agent resolve it",
        )
    return None


def _another_tree(facts: AcceptFacts) -> Obstacle | None:
    """Work that was only rebased since is still the one that was reviewed under that tree."""
    wanted = facts.only_tree
    seen = (facts.head_tree, (facts.reviewed_tree or "") if facts.reviewed else "")
    if wanted is None or any(tree.startswith(wanted) for tree in seen):
        return None
    return Obstacle(
        f"{facts.worker}'s work has the tree {facts.head_tree[:12]} and not {wanted[:12]}; nothing was changed",
        f"look at it as it is now: `llmc review {facts.worker}`",
    )


def _changed_since(facts: AcceptFacts) -> Obstacle | None:
    found = facts.since_review
    if found is None or facts.takes_changed:
        return None
    return Obstacle(
        f"{facts.worker}'s work has changed since its review at {found.commit[:12]}; nothing was merged. "
        f"The difference:\n{found.text}",
        f"`llmc review {facts.worker}` shows all of it; `llmc accept {facts.worker} --changed` takes it as it is",
    )


def _nothing_new(facts: AcceptFacts) -> Obstacle | None:
    if facts.commits and facts.changes:
        return None
    return Obstacle(
        f"{facts.worker} has nothing that {facts.branch} does not have",
        f"`llmc reset {facts.worker}` makes it idle",
    )


def _commit(facts: AcceptFacts) -> PlanStep:
    text = message_for([facts.message] if facts.message else list(facts.messages), facts.task)
    count = len(facts.commits)
    assert facts.tree is not None
    return MakeCommit(facts.tree, facts.tip, count, facts.author, text, facts.signed)


def _blocked(facts: AcceptFacts) -> Obstacle | None:
    place = facts.place
    if place.refusal is not None:
        return place.refusal
    if place.in_the_way:
        return Obstacle(
            f"{place.checkout} has local changes that this work would overwrite: {', '.join(place.in_the_way)}",
            "commit, move or stash these files there, then accept again",
        )
    return None
