"""Damage in a clone and its worktrees, put right so that no commit and no file is lost."""

from __future__ import annotations

import re

from llmc.errors import LlmcError
from llmc.git.failure import GitError
from llmc.git.history import is_ancestor
from llmc.git.own_view import record_of, records_of
from llmc.git.parse import decode, encode
from llmc.git.plain_refs import make_plain
from llmc.git.repository import HEADS, branch_tip, operations, resolve
from llmc.git.runner import LONG, Git
from llmc.git.worktree import make_worktree, point_at_record, quit_operations, worktree_path
from llmc.git.worktree_identity import foreign_git, has_whole_record, points_at_record, recorded_head

_PACKED = re.compile(rb"#.*|\^?[0-9a-f]{40,64}|[0-9a-f]{40,64} refs/\S+")
_SHA = re.compile(r"[0-9a-f]{40,64}")
NEEDED_DIRECTORIES = ("objects", "refs")


class GitRepairError(LlmcError):
    """It cannot be put right without a person."""


# --- the clone itself -------------------------------------------------------------------------------


def repair_clone(git: Git, git_dir: str, branch: str, keep: str) -> None:
    """HEAD, the directories that git needs, and lines of `packed-refs` that are none. `keep` gets what is replaced."""
    for name in NEEDED_DIRECTORIES:
        git.host.make_dir(f"{git_dir}/{name}")
    head = git.host.read(f"{git_dir}/HEAD")
    if head is None or not re.match(rb"ref: refs/|[0-9a-f]{40}", head):
        git.host.write(f"{git_dir}/HEAD", f"ref: {HEADS}{branch}\n".encode())
    packed = git.host.read(f"{git_dir}/packed-refs") or b""
    good = [line for line in packed.split(b"\n") if _PACKED.fullmatch(line)]
    if b"\n".join([*good, b""]) != packed and packed:
        git.host.write(f"{keep}/packed-refs", packed)
        git.host.write(f"{git_dir}/packed-refs", b"\n".join([*good, b""]))


def repair_ref(git: Git, root: str, ref: str, keep: str) -> str:
    """Puts a ref back to the last commit that its log tells of and that there is. The commit."""
    git_dir = f"{root}/.git"
    broken = git.host.read(f"{git_dir}/{ref}")
    if broken is not None:
        git.host.write(f"{keep}/{ref}", broken)
        git.host.remove_tree(f"{git_dir}/{ref}")
    packed = resolve(git, root, ref)
    sha = packed or newest_logged(git, root, f"{git_dir}/logs/{ref}")
    if sha is None:
        if broken is None:
            git.run(root, "update-ref", "-d", ref)
        raise GitRepairError(f"nothing tells where {ref} last stood", f"what was in it is kept in {keep}")
    git.run(root, "update-ref", "-m", "llmc doctor --repair", ref, sha)
    return sha


def newest_logged(git: Git, root: str, log: str) -> str | None:
    """The last commit that a reflog names and that the repository has."""
    lines = decode(git.host.read(log) or b"").splitlines()
    for line in reversed(lines):
        for word in reversed(line.split(" ")[:2]):
            if _SHA.fullmatch(word) and set(word) != {"0"} and resolve(git, root, word):
                return word
    return None


# --- branches ---------------------------------------------------------------------------------------


def restore_branch(git: Git, root: str, name: str, branch: str, candidates: tuple[str | None, ...]) -> str:
    """Makes the branch where its worktree last stood, else at the first of the candidates that there is."""
    logged = newest_logged(git, root, f"{root}/.git/worktrees/{name}/logs/HEAD")
    found = next((sha for sha in (logged, *candidates) if sha and resolve(git, root, sha)), None)
    if found is None:
        raise GitRepairError(f"no commit is left that {branch} could stand on", "`llmc nuke` it, then add it again")
    git.run(root, "update-ref", "-m", "llmc doctor --repair", HEADS + branch, found, "")
    return found


# --- worktrees --------------------------------------------------------------------------------------


def make_worktree_again(git: Git, root: str, name: str, branch: str) -> None:
    """For a directory that is gone: the branch, checked out in its place. One that is there is never removed."""
    path = worktree_path(root, name)
    if git.host.read_link(path) is not None:
        git.host.remove_tree(path)
    git.host.remove_tree(record_of(root, name))
    make_worktree(git, root, name, "--force", path, branch)


def make_ours(git: Git, root: str, name: str, branch: str, keep: str) -> str:
    """Makes a directory the worker's worktree again. Its files stay, and count as changes where they differ.

    What stands in the way and is not LLMC's, such as a repository that an agent made there, goes to `keep` as it is.
    Says what that was; empty where there was nothing to do.
    """
    why = foreign_git(git.host, root, name)
    if why is None:
        return ""
    path, record = worktree_path(root, name), record_of(root, name)
    if git.host.read_link(path) is not None:
        raise GitRepairError(f"{path} is a link to another place", f"remove the link, then `llmc restart {name}`")
    kept = []
    if not has_whole_record(git.host, root, name):
        head = recorded_head(git.host, root, name)
        if git.host.read_link(records_of(root)) is not None:
            kept += _set_aside(git, records_of(root), f"{keep}/worktrees")
        kept += _set_aside(git, record, f"{keep}/{name}.record")
        # Commits that are on no branch stay within reach of the backup that follows.
        is_commit = head is not None and _SHA.fullmatch(head) and resolve(git, root, head)
        git.host.write(f"{record}/HEAD", encode(f"{head if is_commit else f'ref: {HEADS}{branch}'}\n"))
    if not points_at_record(git.host, root, name):
        kept += _set_aside(git, f"{path}/.git", f"{keep}/{name}.git")
    point_at_record(git.host, root, name)
    make_plain(git, root, HEADS + branch)
    if not git.host.exists(f"{record}/index"):
        git.run(path, "reset", "--quiet", timeout=LONG)
    return f"{why}; " + (f"what was there is kept in {' and '.join(kept)}" if kept else "it is LLMC's again")


def _set_aside(git: Git, path: str, keep: str) -> list[str]:
    if not git.host.exists(path):
        return []
    git.host.move(path, keep)
    return [keep]


def put_on_branch(git: Git, worktree: str, branch: str) -> bool:
    """Checks the branch out, with the commits of HEAD on it where HEAD has all that the branch has.

    False when HEAD and the branch have gone apart: then HEAD's own commits are not on it. The caller has backed up.
    """
    head, tip = resolve(git, worktree, "HEAD"), branch_tip(git, worktree, branch)
    if head is not None and (tip is None or is_ancestor(git, worktree, tip, head)):
        git.run(worktree, "update-ref", "-m", "llmc doctor --repair", HEADS + branch, head, tip or "")
        git.run(worktree, "symbolic-ref", "-m", "llmc doctor --repair", "HEAD", HEADS + branch)
        return True
    checkout = ("checkout", "--quiet", "--no-recurse-submodules", "--ignore-other-worktrees", branch, "--")
    git.run(worktree, *checkout, timeout=LONG)
    return head is None or is_ancestor(git, worktree, head, branch)


def leave_operation(git: Git, worktree: str) -> None:
    """Back to before a rebase, merge or the like; where git cannot, it forgets it and the files stay."""
    for operation in operations(git, worktree):
        if not git.run(worktree, operation.value, "--abort", check=False, timeout=LONG).ok:
            try:
                quit_operations(git, worktree)
            except GitError as stuck:
                raise GitRepairError(stuck.what, f"look at `git -C {worktree} status`") from stuck
