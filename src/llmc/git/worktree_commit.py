"""A worktree as it is at this moment, uncommitted files included, as a commit that nobody else sees.

Costs one `git status`: only what that finds is read.
"""

from __future__ import annotations

from llmc.git.parse import StatusEntry, StatusKind, encode, nul_fields
from llmc.git.repository import git_paths, operations, require_commit, status
from llmc.git.runner import LLMC_IDENTITY, Git
from llmc.git.scratch_objects import ThrowAwayStore
from llmc.values import Value

LARGEST_UNTRACKED = 4_000_000
"""Bytes; a larger file that git does not know is hardly part of the work."""
_DATES = {"GIT_AUTHOR_DATE": "@0 +0000", "GIT_COMMITTER_DATE": "@0 +0000"}


class Present(Value):
    commit: str
    uncommitted: bool


def present_commit(git: Git, worktree: str, branch: str, store: ThrowAwayStore, name: str) -> Present:
    """In the middle of a rebase or a merge it is the branch that counts: the files are between two states."""
    if operations(git, worktree):
        return Present(require_commit(git, worktree, f"refs/heads/{branch}"), False)
    head = require_commit(git, worktree, "HEAD")
    dirty = [entry for entry in status(git, worktree) if _counts(git, worktree, entry)]
    if not dirty:
        return Present(head, False)
    return Present(commit_tree(git, worktree, _tree(git, worktree, dirty, store, name), head, store), True)


def _counts(git: Git, worktree: str, entry: StatusEntry) -> bool:
    if entry.kind is not StatusKind.UNTRACKED:
        return not entry.inner
    size = None if entry.path.endswith("/") else git.host.size(f"{worktree}/{entry.path}")
    return size is not None and size <= LARGEST_UNTRACKED


def _tree(git: Git, worktree: str, dirty: list[StatusEntry], store: ThrowAwayStore, name: str) -> str:
    (index,) = git_paths(git, worktree, "index")
    env = store.env(name)
    git.host.copy_file(index, store.index(name))
    paths = b"".join(encode(entry.path) + b"\0" for entry in dirty)
    git.run(worktree, "update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=paths, env=env)
    return git.text(worktree, "write-tree", env=env)


def commit_tree(git: Git, cwd: str, tree: str, parent: str, store: ThrowAwayStore) -> str:
    args = ("commit-tree", "--no-gpg-sign", "-p", parent, "-F", "-", tree)
    return git.text(cwd, *args, stdin=b"as it is now\n", env=store.env() | LLMC_IDENTITY | _DATES)


class Changes(Value):
    """The paths that one commit adds to, changes in and removes from another."""

    added: frozenset[str]
    changed: frozenset[str]
    removed: frozenset[str]


def changes_between(git: Git, cwd: str, base: str, head: str, store: ThrowAwayStore) -> Changes:
    raw = git.run(cwd, "diff-tree", "-r", "-z", "--name-status", "--no-renames", base, head, "--", env=store.env()).out
    fields = nul_fields(raw)
    found: dict[str, set[str]] = {"A": set(), "D": set()}
    for status_letter, path in zip(fields[::2], fields[1::2], strict=True):
        found.setdefault(status_letter, set()).add(path)
    rest = set().union(*(paths for letter, paths in found.items() if letter not in "AD"))
    return Changes(frozenset(found["A"]), frozenset(rest), frozenset(found["D"]))
