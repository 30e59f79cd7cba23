"""Nothing is lost: before a step that could drop work, all of it goes under a ref of its own."""

from __future__ import annotations

from dataclasses import replace

from llmc.errors import LlmcError
from llmc.git.backup_record import NAMESPACE, Backup, expired, message_of, read_backup, ref_name
from llmc.git.failure import GitError
from llmc.git.hidden import whole_status
from llmc.git.history import is_ancestor
from llmc.git.inner_repositories import repositories_passed_over
from llmc.git.own_view import WORKTREES
from llmc.git.parse import StatusEntry, StatusKind, WorktreeStatus, decode, encode
from llmc.git.rebase import rebase_in_progress
from llmc.git.repository import branch_tip, git_paths, operations, require_commit, resolve
from llmc.git.runner import LLMC_IDENTITY, LONG, Git
from llmc.git.snapshot import put_back, take
from llmc.git.worktree import reset_in_place

_ATTEMPTS = 100


class BackupError(LlmcError):
    """The backup could not be written or read back."""


def make_backup(
    git: Git,
    worktree: str,
    worker: str,
    at_unix: float,
    *,
    branch: str | None = None,
    reason: str = "",
    safe_sha: str | None = None,
    task: str = "",
    task_id: str = "",
    seen: WorktreeStatus | None = None,
) -> Backup | None:
    """Keeps HEAD, the worker's branch, the index, every file that is not ignored, and an unfinished rebase or merge.

    Touches nothing in the worktree. None when there is nothing to lose: all is clean and within `safe_sha`.
    `seen` is what its status said a moment ago, if somebody has asked.
    """
    seen = seen or whole_status(git, worktree)
    plan = _look(git, worktree, seen, worker, at_unix, branch or f"llmc/{worker}", reason)
    plan = replace(plan, task=task, task_id=task_id)
    tips = _tips(git, worktree, plan)
    if not plan.has_files and safe_sha and all(is_ancestor(git, worktree, tip, safe_sha) for tip in tips):
        return None
    if not plan.has_files:
        return _store(git, worktree, plan, f"{plan.head_sha}^{{tree}}", tips)
    left_out = tuple(path for path in plan.left_out if path not in plan.dirty)
    snapshot = take(git, worktree, left_out, seen.index)
    title = f"LLMC backup of {worker}: index and state\n"
    state = _commit(git, worktree, snapshot.state, [plan.head_sha], title, at_unix)
    return _store(git, worktree, plan, snapshot.files, [plan.head_sha, state, *tips[1:]])


def backup_branch(
    git: Git, root: str, worker: str, at_unix: float, branch: str, reason: str = "", task: str = ""
) -> Backup | None:
    """For a worker whose worktree is gone: keeps its branch. None when there is none, or a backup has it already."""
    tip = branch_tip(git, root, branch)
    if tip is None or is_backed_up(git, root, worker, tip):
        return None
    return backup_commit(git, root, worker, at_unix, branch, tip, reason, task)


def is_backed_up(git: Git, root: str, worker: str, sha: str) -> bool:
    return any(is_ancestor(git, root, sha, each.sha) for each in list_backups(git, root, worker))


def backup_commit(
    git: Git, root: str, worker: str, at_unix: float, branch: str, sha: str, reason: str = "", task: str = ""
) -> Backup:
    """Keeps a commit of the worker's that no branch may have, as if it were the tip of the worker's own."""
    plan = Backup("", "", worker, at_unix, reason, sha, branch, branch, sha, task=task)
    return _store(git, root, plan, f"{sha}^{{tree}}", [sha])


def left_out_of_backup(git: Git, worktree: str, seen: WorktreeStatus) -> tuple[str, ...]:
    """Repositories inside the worktree, submodules with changes too: git cannot keep their files in another one."""
    told = (each.path for each in seen.entries if _is_nested(each) or each.inner)
    return tuple(dict.fromkeys((*told, *repositories_passed_over(git, worktree, seen.index))))


def same_content(git: Git, root: str, one: Backup, other: Backup) -> bool:
    """Whether both keep the same files, index and commits."""
    shas = [git.text(root, "rev-parse", f"{each.sha}^{{tree}}", f"{each.sha}^@") for each in (one, other)]
    return shas[0] == shas[1]


def _look(
    git: Git, worktree: str, seen: WorktreeStatus, worker: str, at_unix: float, branch: str, reason: str
) -> Backup:
    head = seen.head or require_commit(git, worktree, "HEAD")
    dirty = seen.entries
    nested = [each.path for each in dirty if _is_nested(each)]
    return Backup(
        ref="",
        sha="",
        worker=worker,
        at_unix=at_unix,
        reason=reason,
        head_sha=head,
        on_branch=seen.branch,
        branch=branch,
        branch_sha=head if seen.branch == branch else branch_tip(git, worktree, branch) or head,
        dirty=tuple(each.path for each in dirty if each.path not in nested),
        left_out=left_out_of_backup(git, worktree, seen),
        has_files=bool(dirty or operations(git, worktree)),
    )


def _is_nested(entry: StatusEntry) -> bool:
    return entry.kind is StatusKind.UNTRACKED and entry.path.endswith("/")


def _tips(git: Git, worktree: str, plan: Backup) -> list[str]:
    """HEAD first, then every other commit that may be reachable from nowhere else."""
    tips = [plan.head_sha]
    for candidate in (plan.branch_sha, *_tips_under_way(git, worktree)):
        if candidate not in tips and not is_ancestor(git, worktree, candidate, plan.head_sha):
            tips.append(candidate)
    return tips


def _tips_under_way(git: Git, worktree: str) -> list[str]:
    if not operations(git, worktree):
        return []
    progress = rebase_in_progress(git, worktree)
    (autostash,) = git_paths(git, worktree, "rebase-merge/autostash")
    named = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"]
    named += [progress.orig_head] if progress and progress.orig_head else []
    named += [decode(git.host.read(autostash) or b"").strip()]
    found = (resolve(git, worktree, name) for name in named if name)
    return [sha for sha in found if sha]


def _store(git: Git, cwd: str, plan: Backup, tree: str, parents: list[str]) -> Backup:
    sha = _commit(git, cwd, tree, parents, message_of(plan), plan.at_unix)
    for number in range(1, _ATTEMPTS):
        ref = ref_name(plan.worker, plan.at_unix, number)
        if git.objects(cwd, ref) != (None,):
            continue
        done = git.run(cwd, "update-ref", "--no-deref", "--stdin", stdin=f"create {ref} {sha}\n".encode(), check=False)
        if done.ok:
            _read_back(git, cwd, ref, sha, parents, plan.has_files)
            return replace(plan, ref=ref, sha=sha)
        if "reference already exists" not in done.complaint:
            raise GitError(("update-ref", ref), done.complaint, done.code)
    raise BackupError(f"{plan.worker} has too many backups of the same second", "wait a moment and try again")


def _read_back(git: Git, cwd: str, ref: str, sha: str, parents: list[str], has_files: bool) -> None:
    """What was promised is looked up where the promise says it is, in the clone, before anything goes.

    Without files the commit itself is all that is new.
    """
    root = cwd.partition(f"/{WORKTREES}/")[0]
    tree, *commits = git.objects(root, f"{ref}^{{tree}}", *(f"{name}^{{commit}}" for name in (ref, *parents)))
    if tree is None or commits != [sha, *parents]:
        raise BackupError(f"{ref} cannot be read back from {root}", "nothing was changed; run `llmc doctor`")
    # Whoever clears the clone up in this moment (`git gc --prune=now`) sees new objects that nothing names yet.
    args = ("rev-list", "--objects", "--quiet", ref, "--not", parents[0], "--")
    whole = git.run(root, *args, check=False, timeout=LONG) if has_files or len(parents) > 1 else None
    if whole is not None and not whole.ok:
        raise BackupError(f"{ref} is not complete: {whole.complaint}", "nothing was changed; try again")


def _commit(git: Git, cwd: str, tree: str, parents: list[str], message: str, at_unix: float) -> str:
    date = f"@{int(at_unix)} +0000"
    identity = LLMC_IDENTITY | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    lineage = [word for parent in parents for word in ("-p", parent)]
    args = ("-c", "i18n.commitEncoding=UTF-8", "commit-tree", "--no-gpg-sign", *lineage, "-F", "-", tree)
    return git.text(cwd, *args, stdin=encode(message), env=identity)


def list_backups(git: Git, root: str, worker: str | None = None) -> tuple[Backup, ...]:
    """Newest first."""
    where = f"{NAMESPACE}{worker}/" if worker else NAMESPACE
    raw = git.run(root, "for-each-ref", "--format=%(refname)%00%(objectname)%00%(contents)%00", where).out
    fields = decode(raw).split("\0")[:-1]
    found = (
        read_backup(ref.lstrip("\n"), sha, message)
        for ref, sha, message in zip(fields[::3], fields[1::3], fields[2::3], strict=True)
    )
    return tuple(sorted((each for each in found if each), key=lambda each: (each.at_unix, each.ref), reverse=True))


def restore_backup(git: Git, worktree: str, backup: Backup) -> None:
    """Makes branch, HEAD, files, index and an unfinished rebase or merge what they were.

    What is in the worktree now is dropped, ignored files excepted: the caller backs it up first.
    """
    require_commit(git, worktree, backup.sha)
    reset_in_place(git, worktree, backup.branch, backup.branch_sha)
    if backup.on_branch != backup.branch:
        _check_out(git, worktree, backup)
    if backup.has_files:
        put_back(git, worktree, f"{backup.sha}^{{tree}}", f"{backup.sha}^2")


def _check_out(git: Git, worktree: str, backup: Backup) -> None:
    head, branch = backup.head_sha, backup.on_branch
    # A branch that has gone on since keeps its commits; the files come back beside it.
    where = ("-B", branch, head) if branch and _holds_no_more_than(git, worktree, branch, head) else ("--detach", head)
    git.run(worktree, "checkout", "--quiet", "--force", *where, "--", timeout=LONG)


def _holds_no_more_than(git: Git, worktree: str, branch: str, head: str) -> bool:
    tip = branch_tip(git, worktree, branch)
    return tip is None or is_ancestor(git, worktree, tip, head)


def expire_backups(git: Git, root: str, keep_days: float, keep_count: int, now: float) -> tuple[Backup, ...]:
    """Lets go of old backups and returns them; the newest `keep_count` of every worker always stay."""
    gone = expired(list_backups(git, root), keep_days, keep_count, now)
    if gone:
        orders = "".join(f"delete {each.ref} {each.sha}\n" for each in gone)
        git.run(root, "update-ref", "--no-deref", "--stdin", stdin=orders.encode())
    return gone
