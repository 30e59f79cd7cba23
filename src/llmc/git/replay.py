"""A worker's commits on a new base, made in memory: no worktree is touched.

Git's own rebase leaves out merges with whatever was changed in them, and commits whose patch the branch has had at some
time. So what it makes of the work may lack something. Here the whole work is merged at once, and that decides.
"""

from __future__ import annotations

from llmc.core.landing.commit_message import message_for
from llmc.git.history import Commit, as_child_of, changed_files, messages_of, own_commits
from llmc.git.merge_tree import Merge, merge_in_memory
from llmc.git.parse import encode
from llmc.git.repository import require_object
from llmc.git.runner import Git
from llmc.values import Value


class Replayed(Value):
    """The work on its new base."""

    tip: str
    joined: bool = False
    """Its commits became one: replayed one by one they would have ended in other content."""


def merge_from(git: Git, cwd: str, base: str, ours: str, theirs: str) -> Merge:
    """The three-way merge from this very base, whatever else the two share. Git 2.40 has --merge-base for it."""
    return merge_in_memory(git, cwd, _sharing(git, cwd, base, ours), _sharing(git, cwd, base, theirs))


def _sharing(git: Git, cwd: str, base: str, commit: str) -> str:
    """A commit with the same files whose only ancestor has those of `base`. For comparison only."""
    root = as_child_of(git, cwd, f"{base}^{{tree}}", None)
    return as_child_of(git, cwd, f"{commit}^{{tree}}", root)


def replay(git: Git, cwd: str, base: str, head: str, onto: str, tree: str, task: str) -> Replayed:
    """The work of `base..head` on `onto`. Ends with exactly the tree that merging all of it at once has given."""
    target = require_object(git, cwd, onto, "tree")
    if tree == target:
        return Replayed(onto)
    commits = own_commits(git, cwd, head, base, onto)
    tip = _one_by_one(git, cwd, commits, base, onto, target, tree)
    return Replayed(tip) if tip else Replayed(join(git, cwd, base, head, onto, tree, task), joined=True)


def join(git: Git, cwd: str, base: str, head: str, onto: str, tree: str, task: str) -> str:
    """All of the work as one commit, with the message that it would land with."""
    commits = own_commits(git, cwd, head, base)
    return _commit(git, cwd, tree, onto, commits[0], message_for(list(messages_of(commits)), task))


def has_merges(git: Git, cwd: str, base: str, head: str) -> bool:
    return bool(git.text(cwd, "rev-list", "--merges", "--max-count=1", head, f"^{base}", "--"))


def _one_by_one(
    git: Git, cwd: str, commits: tuple[Commit, ...], base: str, onto: str, target: str, wanted: str
) -> str | None:
    """The tip of the replayed commits; None when one of them does not apply, or all of them end elsewhere."""
    if [commit.parents for commit in commits] == [(base,)]:
        return _commit(git, cwd, wanted, onto, commits[0], commits[0].message)
    tip, tree = onto, target
    for commit in commits:
        if len(commit.parents) > 1:
            continue
        if not commit.parents:
            return None
        parent = commit.parents[0]
        merged = merge_in_memory(git, cwd, as_child_of(git, cwd, tree, parent), commit.sha)
        if merged.clashes:
            return None
        # A commit that was empty from the start says something; one that became empty is on the branch already.
        if merged.tree != tree or not changed_files(git, cwd, parent, commit.sha):
            tip, tree = _commit(git, cwd, merged.tree, tip, commit, commit.message), merged.tree
    return tip if tree == wanted else None


def _commit(git: Git, cwd: str, tree: str, parent: str, authored: Commit, message: str) -> str:
    args = ("-c", "i18n.commitEncoding=UTF-8", "commit-tree", "--no-gpg-sign", "-p", parent, "-F", "-", tree)
    return git.text(cwd, *args, stdin=encode(message), env=authored.author)
