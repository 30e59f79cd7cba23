"""Worktrees of the clone: made, put back to a clean state, removed. Most are workers', some LLMC's own."""

from __future__ import annotations

from os import urandom

from llmc.errors import LlmcError
from llmc.git.failure import GitError
from llmc.git.hidden import hidden_files, index_lines, reveal
from llmc.git.history import is_ancestor
from llmc.git.own_view import place_of, record_of, records_of
from llmc.git.parse import Worktree, WorktreeStatus, decode, encode
from llmc.git.repository import Operation, branch_tip, git_paths, list_worktrees, operations
from llmc.git.runner import LONG, Git
from llmc.git.worktree_identity import foreign_git
from llmc.host.base import Host
from llmc.host.faults import Moment, reached


class WorktreeError(LlmcError):
    """The worktree cannot be made or removed as things are."""


def worktree_path(root: str, name: str) -> str:
    if not name or "/" in name or name.startswith("."):
        raise WorktreeError(f"{name!r} cannot be the name of a worktree", "use letters, digits and dashes")
    return place_of(root, name)


def find_worktree(git: Git, root: str, name: str) -> Worktree | None:
    """Git's record of the worktree, whether or not the directory still exists."""
    path = git.host.real_path(worktree_path(root, name))
    return next((each for each in list_worktrees(git, root) if git.host.real_path(each.path) == path), None)


def add_worktree(git: Git, root: str, name: str, branch: str, start_sha: str) -> str:
    """Makes the worktree on a new branch and returns its path; done again, it changes nothing."""
    path = worktree_path(root, name)
    known = find_worktree(git, root, name)
    if known and not known.missing and not known.unfinished:
        return path
    _refuse_to_bury(git, root, branch, start_sha)
    if known:
        remove_worktree(git, root, name)
    _make_room(git.host, root, name)
    make_worktree(git, root, name, "--no-track", "-B", branch, path, start_sha)
    return path


def make_worktree(git: Git, root: str, name: str, *how: str) -> None:
    """`git worktree add HOW`, with the files as no agent can filter them.

    To fill the directory, git itself would start another git there, which hears what the clone's configuration says.
    """
    # Git's own word for a worktree that is not complete yet.
    lock = ("--lock", "--reason", "initializing")
    git.host.make_dir(records_of(root))  # git removes it with the last worktree, and does not see that through a link
    git.run(root, "worktree", "add", "--quiet", "--no-checkout", *lock, *how)
    point_at_record(git.host, root, name)
    git.run(worktree_path(root, name), "reset", "--quiet", "--hard", timeout=LONG)
    git.host.remove_tree(f"{record_of(root, name)}/locked")


def _make_room(host: Host, root: str, name: str) -> None:
    """A record that belongs to no directory would make git choose another name for this one."""
    if host.exists(record_of(root, name)):
        other = decode(host.read(f"{record_of(root, name)}/gitdir") or b"").strip()
        if other and host.exists(other):
            raise WorktreeError(
                f"somebody else has made a worktree of that name in the clone: {other.removesuffix('/.git')}",
                f"choose another name, or remove that one: `git -C {root} worktree remove PATH`",
            )
        host.move(record_of(root, name), f"{root}/aside/records/{name}-{urandom(4).hex()}")


def point_at_record(host: Host, root: str, name: str) -> None:
    """Makes the directory and the clone's record of it name each other, for the agents' git as for LLMC's own."""
    record, path = record_of(root, name), worktree_path(root, name)
    host.write(f"{record}/commondir", b"../..\n")
    host.write(f"{record}/gitdir", encode(f"{path}/.git\n"))
    host.write(f"{path}/.git", encode(f"gitdir: {record}\n"))


def _refuse_to_bury(git: Git, root: str, branch: str, start_sha: str) -> None:
    tip = branch_tip(git, root, branch)
    if tip and not is_ancestor(git, root, tip, start_sha):
        raise WorktreeError(
            f"the branch {branch} exists and has commits of its own (tip {tip[:12]})",
            f"choose another name, or rename that branch: `git -C {root} branch -m {branch} NEW`",
        )


def remove_worktree(git: Git, root: str, name: str) -> None:
    """Removes the directory and git's record of it, in whatever state they are. Not the branch."""
    for path in (worktree_path(root, name), record_of(root, name)):
        try:
            git.host.remove_tree(path)
        except OSError as refused:
            raise WorktreeError(f"could not remove {path}: {refused}", "remove it by hand, then try again") from refused


def delete_branch(git: Git, root: str, branch: str) -> None:
    """Deletes a branch that no worktree has checked out; nothing to do when there is none."""
    args = ("branch", "--quiet", "-D", "--", branch)
    done = git.run(root, *args, check=False)
    if not done.ok and branch_tip(git, root, branch):
        raise GitError(args, done.complaint, done.code)


def reset_in_place(git: Git, worktree: str, branch: str, sha: str, seen: WorktreeStatus | None = None) -> None:
    """Puts the worktree on `branch` at `sha` with nothing of its own left but ignored files.

    The directory itself stays: an agent may be running in it. What gets dropped is for the caller to back up first.
    `seen` is what its status said a moment ago, if somebody has asked.
    """
    _check_out(git, worktree, seen, "--no-track", "-B", branch, sha)
    reached(Moment.RESET_CHECKED_OUT)
    git.run(worktree, "clean", "--quiet", "--force", "-d", timeout=LONG)


def _check_out(git: Git, worktree: str, seen: WorktreeStatus | None, *where: str) -> None:
    quit_operations(git, worktree)
    hidden = hidden_files(git, worktree, seen.index if seen else index_lines(git, worktree))
    if hidden:
        reveal(git, worktree, hidden)
    git.run(worktree, "checkout", "--quiet", "--force", "--no-recurse-submodules", *where, "--", timeout=LONG)


def show_commit(git: Git, root: str, name: str, sha: str) -> bool:
    """Makes a scratch worktree show exactly this commit, with nothing else but ignored files. Whether it was made anew.

    Nothing in it is anybody's. Whoever calls has it alone.
    """
    path, record = worktree_path(root, name), record_of(root, name)
    if not git.host.exists(f"{record}/locked") and foreign_git(git.host, root, name) is None:
        try:
            for lock in ("index.lock", "HEAD.lock"):  # of a git that was killed with the check that it belonged to
                git.host.remove_tree(f"{record}/{lock}")
            _check_out(git, path, None, "--detach", sha)
            git.run(path, "clean", "--quiet", "--force", "--force", "-d", timeout=LONG)
        except (GitError, OSError):
            pass  # whatever a check has done to it: it costs a checkout to make it again
        else:
            return False
    remove_scratch(git, root, name)
    make_worktree(git, root, name, "--detach", path, sha)
    return True


def remove_scratch(git: Git, root: str, name: str) -> None:
    """Nothing is removed, or made writable, through a link that a check has put there."""
    path = worktree_path(root, name)
    if git.host.read_link(records_of(root)) is not None:
        raise WorktreeError(f"{records_of(root)} is a link to another place", "run `llmc doctor --repair`")
    if git.host.is_dir(path) and git.host.read_link(path) is None:
        git.host.run(["chmod", "-R", "u+rwX", "--", path], timeout=LONG)
    remove_worktree(git, root, name)


def head_log(git: Git, worktree: str) -> list[str]:
    """The commits that HEAD was on before each of its moves, the oldest first; empty where git keeps no log."""
    (path,) = git_paths(git, worktree, "logs/HEAD")
    shas = (line.partition(" ")[0] for line in decode(git.host.read(path) or b"").splitlines())
    return [sha for sha in shas if sha.strip("0")]


_QUIT = {
    Operation.REBASE: ("rebase", "rebase-merge", "rebase-apply"),
    Operation.AM: ("am", "rebase-apply"),
    Operation.MERGE: ("merge",),
    Operation.CHERRY_PICK: ("cherry-pick", "sequencer"),
    Operation.REVERT: ("revert", "sequencer"),
}


def quit_operations(git: Git, worktree: str) -> None:
    """Makes git forget what it was in the middle of; HEAD and files stay as they are."""
    for operation in operations(git, worktree):
        verb, *traces = _QUIT[operation]
        if not git.run(worktree, verb, "--quit", check=False).ok:
            _forget(git, worktree, verb, traces)


def _forget(git: Git, worktree: str, verb: str, traces: list[str]) -> None:
    """For a state that is too damaged for git's own --quit: its directory is the whole of it."""
    if not traces:
        raise GitError((verb, "--quit"), f"{worktree} is in the middle of a {verb} that git cannot leave")
    for path in git_paths(git, worktree, *traces):
        git.host.remove_tree(path)
