"""Moving a worker's commits onto the newest state of the user's branch."""

from __future__ import annotations

from dataclasses import field, replace

from llmc.errors import LlmcError
from llmc.git.failure import GitError
from llmc.git.history import is_ancestor, merge_base
from llmc.git.merge_tree import merge_in_memory
from llmc.git.parse import decode, nul_fields
from llmc.git.replay import has_merges, join, merge_from, replay
from llmc.git.repository import HEADS, current_branch, git_paths, require_commit, resolve
from llmc.git.runner import LONG, Git
from llmc.host.base import Completed
from llmc.values import Value

# Whatever the user likes for their own rebases, this one replays plain commits, touches no other branch, hides no
# dirty files and asks nobody for a key. The commit that lands is signed in its own step. A patch that the branch has
# had at some time may have been taken back since, on either side: each commit is tried, and left out if it is empty.
_PLAIN = [
    "--merge",
    "--no-autostash",
    "--no-autosquash",
    "--no-update-refs",
    "--no-rebase-merges",
    "--reapply-cherry-picks",
    "--no-fork-point",
    "--no-gpg-sign",
    "--no-verify",
    "--no-stat",
]


class RebaseRefusedError(LlmcError):
    """The worktree is in no state to be rebased."""


class Clean(Value):
    """The two sides merge without help; `tree` is the result."""

    tree: str


class Conflicts(Value):
    """The two sides do not merge in these files."""

    files: tuple[str, ...]


class Rebased(Value):
    """The branch is on its new base; `sha` is its tip."""

    sha: str
    joined: bool = False
    """Its commits became one: replayed one by one they would have ended in other content."""
    before: str | None = field(default=None, compare=False)
    """What git found there when it began, if it had anything to do."""


class Conflicted(Value):
    """The rebase stopped in the worktree and waits for these files."""

    files: tuple[str, ...]
    joined: bool = False
    """As in `Rebased`."""


class RebaseProgress(Value):
    """A rebase that has stopped or runs right now. A field is None where git has not written it."""

    branch: str | None
    onto: str | None
    orig_head: str | None
    current: str | None
    """The commit that could not be applied."""
    remaining: int | None
    """How many commits come after it."""


class Base(Value):
    """Where the worker's own commits begin; `sha` is None when the histories share nothing."""

    sha: str | None = None
    is_shared: bool = True
    """Git itself would merge from there."""


def would_conflict(git: Git, cwd: str, onto: str, head: str, base: Base | None = None) -> Clean | Conflicts:
    """Merges in memory, touching nothing. A rebase of several commits may still stop where this is clean."""
    if base is None or base.sha is None or base.is_shared:
        merged = merge_in_memory(git, cwd, onto, head)
    else:
        merged = merge_from(git, cwd, base.sha, onto, head)
    return Conflicts(tuple(clash.path for clash in merged.clashes)) if merged.clashes else Clean(merged.tree)


def own_base(git: Git, cwd: str, onto: str, head: str, recorded: str | None) -> Base:
    """Usually what the two share. But a user may have rewritten the branch since: then commits that were part of
    it when the work began are in the worker's history only, and they are not its work.
    """
    shared = merge_base(git, cwd, onto, head)
    known = resolve(git, cwd, recorded) if recorded and recorded != shared else None
    if known is None or known == shared or not is_ancestor(git, cwd, known, head):
        return Base(shared)
    return Base(known, is_shared=False) if shared is None or is_ancestor(git, cwd, shared, known) else Base(shared)


def rebase_onto(
    git: Git, worktree: str, onto: str, recorded_base: str | None = None, task: str = ""
) -> Rebased | Conflicted:
    """Rebases the branch that is checked out. If it fails for another reason than conflicts, all is as before.

    Whatever the history looks like, what comes of it is the merge of the whole work with `onto`.
    """
    if rebase_in_progress(git, worktree):
        raise RebaseRefusedError(f"{worktree} is in the middle of a rebase", "finish or abort it first")
    head, target = require_commit(git, worktree, "HEAD"), require_commit(git, worktree, onto)
    if current_branch(git, worktree) is None:
        raise RebaseRefusedError(f"{worktree} has no branch checked out", "check out the worker's branch there first")
    base = own_base(git, worktree, target, head, recorded_base)
    if base.sha == target:
        return Rebased(head)
    if base.sha is None:
        return _replayed_by_git(git, worktree, target)
    whole = would_conflict(git, worktree, target, head, base)
    if isinstance(whole, Conflicts):
        return _with_conflicts(git, worktree, target, head, base.sha, task)
    made = replay(git, worktree, base.sha, head, target, whole.tree, task)
    moved = _replayed_by_git(git, worktree, "--onto", made.tip, head)
    return replace(moved, joined=made.joined) if isinstance(moved, Rebased) else moved


def _with_conflicts(git: Git, worktree: str, target: str, head: str, base: str, task: str) -> Rebased | Conflicted:
    """Stops at the first commit that does not apply. Git replays no merges: with one, the work is one commit first."""
    if not has_merges(git, worktree, base, head):
        return _replayed_by_git(git, worktree, "--onto", target, base)
    joined = join(git, worktree, base, head, base, f"{head}^{{tree}}", task)
    _replayed_by_git(git, worktree, "--onto", joined, head)
    outcome = _replayed_by_git(git, worktree, "--onto", target, base)
    return replace(outcome, joined=True)


def _replayed_by_git(git: Git, worktree: str, *where: str) -> Rebased | Conflicted:
    """Commits that were made in the very last moment come along."""
    try:
        return _outcome(git, worktree, _rebase(git, worktree, *_PLAIN, *where))
    except GitError:
        abort_rebase(git, worktree)
        raise


def _rebase(git: Git, worktree: str, *args: str) -> Completed:
    return git.run(worktree, "rebase", *args, check=False, timeout=LONG)


def _outcome(git: Git, worktree: str, done: Completed) -> Rebased | Conflicted:
    """Where the rebase stands, going on by itself for as long as nothing is left to resolve."""
    tried_at: RebaseProgress | None = None
    while (progress := rebase_in_progress(git, worktree)) is not None:
        files = unmerged_files(git, worktree)
        if files:
            return Conflicted(files)
        if progress == tried_at:
            break
        # rerere knew every answer and staged it, or a lock came in between: the next step is ours.
        tried_at = progress
        done = _rebase(git, worktree, "--continue")
    if progress or not done.ok:
        raise GitError(("rebase",), done.complaint, done.code)
    head, before = git.objects(worktree, "HEAD^{commit}", "ORIG_HEAD^{commit}")
    return Rebased(head or require_commit(git, worktree, "HEAD"), before=before)


def unmerged_files(git: Git, worktree: str) -> tuple[str, ...]:
    """What is still in conflict. Reads the index and none of the files."""
    raw = git.run(worktree, "ls-files", "--unmerged", "-z", "--full-name", "--", ":/").out
    return tuple(dict.fromkeys(field.partition("\t")[2] for field in nul_fields(raw)))


def abort_rebase(git: Git, worktree: str) -> None:
    """Back to before the rebase; nothing to do when there is none."""
    if rebase_in_progress(git, worktree):
        git.run(worktree, "rebase", "--abort", timeout=LONG)


def rebase_in_progress(git: Git, worktree: str) -> RebaseProgress | None:
    merging, applying, am = git_paths(git, worktree, "rebase-merge", "rebase-apply", "rebase-apply/applying")
    if git.host.is_dir(merging):
        return _progress(git, worktree, merging, "msgnum", "end")
    if git.host.is_dir(applying) and not git.host.exists(am):
        return _progress(git, worktree, applying, "next", "last")
    return None


def _progress(git: Git, worktree: str, directory: str, step: str, last: str) -> RebaseProgress:
    def line(name: str) -> str | None:
        raw = git.host.read(f"{directory}/{name}")
        return decode(raw).strip() or None if raw else None

    head_name, done, total = line("head-name"), line(step), line(last)
    return RebaseProgress(
        branch=head_name.removeprefix(HEADS) if head_name and head_name.startswith(HEADS) else None,
        onto=line("onto"),
        orig_head=line("orig-head"),
        current=resolve(git, worktree, "REBASE_HEAD"),
        remaining=int(total) - int(done) if done and total else None,
    )
