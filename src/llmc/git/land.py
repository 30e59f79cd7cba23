"""How finished work gets onto the user's branch: one commit, moved there by compare-and-swap or fast-forward.

The user's checkout is only ever fast-forwarded, and only where git itself finds that no local change is touched.
"""

from __future__ import annotations

from os import urandom

from llmc.core.landing.journal import Landing
from llmc.errors import LlmcError
from llmc.git.copying import bring_objects
from llmc.git.failure import GitError
from llmc.git.history import Commit, is_ancestor
from llmc.git.local_changes import buried_submodules
from llmc.git.locks import SourceLockedError, locks_on, refusal
from llmc.git.parse import Worktree, encode, nul_fields, refused_files
from llmc.git.rebase import rebase_in_progress
from llmc.git.repository import HEADS, branch_tip, list_worktrees, operations
from llmc.git.runner import LONG, Git
from llmc.git.take_back import MARK, has_landed, settle_landing
from llmc.host.faults import Moment, reached
from llmc.values import Value


class LandRefusedError(LlmcError):
    """The user's repository is in no state to take the work; nothing was changed."""


class LocalChangesError(LandRefusedError):
    """Landing would overwrite files that the user has not committed; nothing was changed."""

    def __init__(self, checkout: str, files: tuple[str, ...]) -> None:
        super().__init__(
            f"{checkout} has local changes that this work would overwrite: {', '.join(files)}",
            "commit, move or stash these files there, then accept again",
        )
        self.files = files


class BranchMovedError(LandRefusedError):
    """The branch is not where it was when the work was rebased onto it; nothing was changed."""

    def __init__(self, branch: str, expected: str, actual: str | None) -> None:
        where = actual[:12] if actual else "gone"
        super().__init__(
            f"{branch} moved while the work was being landed: expected at {expected[:12]}, now {where}",
            "accept again: the work will be rebased onto the new state first",
        )
        self.branch = branch
        self.expected = expected
        self.actual = actual


class LandLostError(LlmcError):
    """Git did as it was told, and yet the branch does not have the work."""


class Landed(Value):
    """The branch has the work."""

    branch: str
    sha: str
    checkout: str | None = None
    """The user's worktree whose files were brought along; None when the branch was not checked out."""
    already: bool = False
    """The branch had it before: an earlier attempt got this far."""


def squash(git: Git, cwd: str, tree: str, onto: str, authored: Commit, message: str, *, signed: bool) -> str:
    """One commit on `onto` with exactly this tree, by the author of `authored`. Needs no worktree."""
    key = "--gpg-sign" if signed else "--no-gpg-sign"
    args = ("-c", "i18n.commitEncoding=UTF-8", "commit-tree", key, "-p", onto, "-F", "-", tree)
    text = encode(message.rstrip("\n") + "\n")
    return git.text(cwd, *args, stdin=text, env=authored.author)


def signs(git: Git, cwd: str) -> bool:
    """Whether the user signs their commits."""
    said = git.ask(cwd, "config", "--type=bool", "--get", "commit.gpgSign")
    return said is not None and said.text.strip() == "true"


class Order(Value):
    """What is to land, and for whom."""

    source: str
    root: str
    branch: str
    old: str
    """Where the branch has to be."""
    new: str
    """The commit itself: a name for it could be moved by an agent."""
    ref: str
    """What keeps the new commit in LLMC's clone."""
    workers: tuple[str, ...] = ()
    title: str = ""


def prepare(git: Git, order: Order, now: float) -> Landing | Landed:
    """All that can be refused is refused here, and the new commit brought over; nothing else has changed yet."""
    source, branch = order.source, order.branch
    new = order.new
    tip, known = git.objects(source, f"{HEADS}{branch}^{{commit}}", f"{new}^{{commit}}")
    if tip and known and is_ancestor(git, source, known, tip):
        return Landed(branch, new, already=True)
    if tip != order.old:
        raise BranchMovedError(branch, order.old, tip)
    bring_objects(git, source, order.root, order.ref, new)
    if not is_ancestor(git, source, order.old, new):
        raise LandRefusedError(f"{new[:12]} is not based on {branch}", "rebase the work first")
    reached(Moment.ACCEPT_COPIED)
    checkout = checkout_of(git, source, branch)
    if checkout is not None and (buried := buried_submodules(git, order.root, checkout, order.old, new)):
        raise LocalChangesError(checkout, buried)
    staged = _staged(git, checkout, order.old) if checkout is not None else ()
    name = f"{now:.0f}-{urandom(4).hex()}"
    title, workers = order.title, order.workers
    return Landing(name, source, checkout, branch, order.old, new, order.ref, workers, title, now, staged)


def land(git: Git, root: str, landing: Landing) -> Landed:
    """Moves the branch, with the files of the checkout that has it, or leaves all as it was: the error says why.

    A HalfLandedError alone says that something is left to be taken back.
    """
    try:
        _move(git, landing)
    except (LocalChangesError, SourceLockedError):
        raise  # git locks and looks at everything before it writes anything
    except LlmcError:
        settle_landing(git, root, landing)
        raise
    return Landed(landing.branch, landing.new, landing.checkout)


def _move(git: Git, landing: Landing) -> None:
    if landing.checkout is None:
        _swap(git, landing)
    else:
        _fast_forward(git, landing, landing.checkout)
    if not has_landed(git, landing):
        raise LandLostError(
            f"{landing.branch} was moved or checked out anew while the work was being landed, and does not have it",
            f"look at `git -C {landing.source} log {landing.branch}` and accept again",
        )


def _expect_at(git: Git, source: str, branch: str, sha: str) -> None:
    tip = branch_tip(git, source, branch)
    if tip != sha:
        raise BranchMovedError(branch, sha, tip)


def checkout_of(git: Git, source: str, branch: str) -> str | None:
    """The user's worktree that has the branch checked out and may be fast-forwarded; None when there is none."""
    places = [each for each in list_worktrees(git, source) if not each.bare and not each.missing]
    for place in places:
        _refuse_rebase_of(git, place, branch)
    checkouts = [place.path for place in places if place.branch == branch]
    if len(checkouts) > 1:
        raise LandRefusedError(
            f"{branch} is checked out in several worktrees: {', '.join(checkouts)}",
            "check out another branch in all but one of them",
        )
    for path in checkouts:
        _refuse_unfinished(git, path)
    return checkouts[0] if checkouts else None


def place_of(git: Git, source: str, branch: str) -> str:
    """The worktree whose locks stand in the way of landing on the branch; the repository itself if none has it."""
    places = (each for each in list_worktrees(git, source) if not each.bare and not each.missing)
    return next((each.path for each in places if each.branch == branch), source)


def _refuse_rebase_of(git: Git, place: Worktree, branch: str) -> None:
    """While git rebases a branch nobody has it checked out, yet the end of the rebase will write to it."""
    progress = rebase_in_progress(git, place.path) if place.branch is None else None
    if progress and progress.branch == branch:
        raise _unfinished(place.path, "rebase")


def _refuse_unfinished(git: Git, path: str) -> None:
    for operation in operations(git, path):
        raise _unfinished(path, operation)


def _unfinished(path: str, operation: str) -> LandRefusedError:
    return LandRefusedError(
        f"{path} is in the middle of a {operation}",
        f"finish it there (`git {operation} --continue`) or leave it (`git {operation} --abort`), then accept again",
    )


def _swap(git: Git, landing: Landing) -> None:
    args = ("update-ref", "-m", "llmc: accept", HEADS + landing.branch, landing.new, landing.old)
    done = git.run(landing.source, *args, check=False, env={MARK: landing.id})
    if not done.ok:
        _expect_at(git, landing.source, landing.branch, landing.old)
        raise GitError(args, done.complaint, done.code)


def _fast_forward(git: Git, landing: Landing, checkout: str) -> None:
    # Even ignored files of the user are not overwritten, and nothing is stashed behind their back.
    options = ("--ff-only", "--no-squash", "--no-autostash", "--no-overwrite-ignore", "--no-stat", "--quiet")
    args = ("merge", *options, landing.new)
    done = git.run(checkout, *args, check=False, timeout=LONG, env={MARK: landing.id})
    if done.ok or has_landed(git, landing):
        return
    _expect_at(git, landing.source, landing.branch, landing.old)
    files = refused_files(done.complaint)
    if files:
        raise LocalChangesError(checkout, files)
    if "/index.lock': File exists" in done.complaint:
        raise _locked(git, landing, checkout) or GitError(args, done.complaint, done.code)
    raise GitError(args, done.complaint, done.code)


def _locked(git: Git, landing: Landing, checkout: str) -> SourceLockedError | None:
    return next((refusal(lock) for lock in locks_on(git, checkout, landing.branch) if lock.is_of_index), None)


def _staged(git: Git, checkout: str, sha: str) -> tuple[str, ...]:
    return nul_fields(git.run(checkout, "diff-index", "--cached", "--name-only", "-z", sha, "--").out)
