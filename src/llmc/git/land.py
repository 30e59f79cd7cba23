"""How finished work gets onto the user's branch: one commit, moved there by compare-and-swap or fast-forward.

The user's checkout is only ever fast-forwarded, and only where git itself finds that no local change is touched.
"""

from __future__ import annotations

from dataclasses import dataclass

from llmc.errors import LlmcError
from llmc.git.clone import REMOTE, has_lfs
from llmc.git.failure import GitError
from llmc.git.history import author_of, is_ancestor
from llmc.git.parse import Worktree, encode, nul_fields, refused_files
from llmc.git.rebase import rebase_in_progress
from llmc.git.repository import HEADS, branch_tip, list_worktrees, operations, require_commit, resolve, uses_lfs
from llmc.git.runner import LONG, Git
from llmc.host.faults import Moment, reached


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


@dataclass(frozen=True, slots=True)
class Landed:
    """The branch has the work."""

    branch: str
    sha: str
    checkout: str | None = None
    """The user's worktree whose files were brought along; None when the branch was not checked out."""
    already: bool = False
    """The branch had it before: an earlier attempt got this far."""


def squash(git: Git, cwd: str, tree: str, onto: str, author_commit: str, message: str) -> str:
    """One commit on `onto` with exactly this tree, by the author of `author_commit`. Needs no worktree."""
    signed = ("--gpg-sign",) if signs(git, cwd) else ("--no-gpg-sign",)
    args = ("-c", "i18n.commitEncoding=UTF-8", "commit-tree", *signed, "-p", onto, "-F", "-", tree)
    text = encode(message.rstrip("\n") + "\n")
    return git.text(cwd, *args, stdin=text, env=author_of(git, cwd, author_commit))


def signs(git: Git, cwd: str) -> bool:
    """Whether the user signs their commits."""
    said = git.ask(cwd, "config", "--type=bool", "--get", "commit.gpgSign")
    return said is not None and said.text.strip() == "true"


def land(git: Git, source: str, root: str, branch: str, old_sha: str, ref: str) -> Landed:
    """Moves `branch` of the user's repository from `old_sha` to the commit that `ref` of the clone names.

    Else nothing is changed, and the error says why.
    """
    new_sha = require_commit(git, root, ref)
    if _has_landed(git, source, branch, new_sha):
        return Landed(branch, new_sha, already=True)
    _expect_at(git, source, branch, old_sha)
    _bring_objects(git, source, root, ref, new_sha)
    if not is_ancestor(git, source, old_sha, new_sha):
        raise LandRefusedError(f"{new_sha[:12]} is not based on {branch}", "rebase the work first")
    reached(Moment.ACCEPT_COPIED)
    checkout = checkout_of(git, source, branch)
    if checkout is None:
        _swap(git, source, branch, old_sha, new_sha)
    else:
        _fast_forward(git, source, checkout, branch, old_sha, new_sha)
    if not _has_landed(git, source, branch, new_sha):
        raise LandLostError(
            f"{branch} was moved or checked out anew while the work was being landed, and does not have it",
            f"look at `git -C {source} log {branch}` and accept again",
        )
    return Landed(branch, new_sha, checkout)


def _has_landed(git: Git, source: str, branch: str, sha: str) -> bool:
    tip = branch_tip(git, source, branch)
    known = resolve(git, source, sha)
    return tip is not None and known is not None and is_ancestor(git, source, known, tip)


def _expect_at(git: Git, source: str, branch: str, sha: str) -> None:
    tip = branch_tip(git, source, branch)
    if tip != sha:
        raise BranchMovedError(branch, sha, tip)


def _bring_objects(git: Git, source: str, root: str, ref: str, sha: str) -> None:
    """Copies the commit over without giving it a name in the user's repository."""
    if has_lfs(git) and uses_lfs(git, root, sha):
        git.run(root, "lfs", "push", REMOTE, ref, timeout=LONG)
    plain = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
    git.run(source, "fetch", *plain, f"{root}/.git", ref, timeout=LONG)


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


def _swap(git: Git, source: str, branch: str, old_sha: str, new_sha: str) -> None:
    args = ("update-ref", "-m", "llmc: accept", HEADS + branch, new_sha, old_sha)
    done = git.run(source, *args, check=False)
    if not done.ok:
        _expect_at(git, source, branch, old_sha)
        raise GitError(args, done.complaint, done.code)


def _fast_forward(git: Git, source: str, checkout: str, branch: str, old_sha: str, new_sha: str) -> None:
    # Even ignored files of the user are not overwritten, and nothing is stashed behind their back.
    options = ("--ff-only", "--no-squash", "--no-autostash", "--no-overwrite-ignore", "--no-stat", "--quiet")
    staged = _staged(git, checkout, old_sha)
    done = git.run(checkout, "merge", *options, new_sha, check=False, timeout=LONG)
    if done.ok or _has_landed(git, source, branch, new_sha):
        return
    _expect_at(git, source, branch, old_sha)
    files = refused_files(done.complaint)
    if files:
        raise LocalChangesError(checkout, files)
    if _staged(git, checkout, old_sha) != staged:
        # Git brings the files along before it moves the branch, and a hook may forbid the latter.
        git.run(checkout, "read-tree", "-m", "-u", "--no-recurse-submodules", new_sha, old_sha, timeout=LONG)
    raise GitError(("merge", *options, new_sha), done.complaint, done.code)


def _staged(git: Git, checkout: str, sha: str) -> tuple[str, ...]:
    return nul_fields(git.run(checkout, "diff-index", "--cached", "--name-only", "-z", sha, "--").out)
