"""What agents do with their own hands: files that they leave lying about, commits of every shape, git turned over.

Whoever acts for a worker holds its lock, and so do these: what an agent writes in the very moment in which its
worktree is being cleared is nobody's to keep.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from llmc.errors import LlmcError
from llmc.host.locks import FileLock
from testing.chaos.world import World

LOCK_SECS = 3.0
ONE_THING_SECS = 30.0
FAILURES = (subprocess.CalledProcessError, subprocess.TimeoutExpired, OSError, LlmcError)


def handle(world: World) -> str:
    """One thing that some agent does."""
    kinds, weights = zip(*HANDS, strict=True)
    deed = world.random.choices(kinds, weights)[0]
    name = world.a_worker()
    done = False
    with suppress(*FAILURES), at_work(world, name) as worktree:
        done = deed(world, name, worktree)
    words = f"agent: {deed.__name__.replace('_', ' ')}"
    return words if done else f"{words} (not possible)"


@contextmanager
def at_work(world: World, name: str) -> Iterator[Path]:
    """The worktree, while nobody else acts for the worker, nor its agent's own program."""
    worktree = world.worktree(name)
    with FileLock(world.root.worker_lock(name), timeout=LOCK_SECS):
        world.wait_for_orphans(worktree)
        with FileLock(world.hands(name), timeout=ONE_THING_SECS):
            if not worktree.is_dir():
                raise FileNotFoundError(worktree)
            yield worktree


# --- files ------------------------------------------------------------------------------------------


def leave_a_file(world: World, name: str, worktree: Path) -> bool:
    token = world.new_token()
    world.belongings.write(name, worktree / "loose" / f"{token}.txt", f"{token}\n")
    return True


def change_a_tracked_file(world: World, name: str, worktree: Path) -> bool:
    return _change(world, name, worktree / "own" / f"{name}.txt")


def change_a_hidden_file(world: World, name: str, worktree: Path) -> bool:
    """Git is told to look away, and does: its `status` says nothing of it."""
    path = f"hidden/{name}.txt"
    world.agents_git(name, "update-index", world.random.choice(("--skip-worktree", "--assume-unchanged")), path)
    return _change(world, name, worktree / path)


def _change(world: World, name: str, file: Path) -> bool:
    world.belongings.write(name, file, f"{world.new_token()}\n")
    return True


def delete_a_file(world: World, name: str, worktree: Path) -> bool:
    loose = [each for each in world.belongings.of(name) if each.is_there and each.file.parent.name == "loose"]
    if not loose:
        return False
    world.belongings.remove(world.random.choice(loose))
    return True


# --- commits ----------------------------------------------------------------------------------------


def commit(world: World, name: str, worktree: Path) -> bool:
    world.agents_git(name, "add", "--all")
    return _commit(world, name, f"By the agent {world.new_token()}")


def tidy_up(world: World, name: str) -> None:
    """What lies about would keep the work from being accepted."""
    with suppress(*FAILURES), at_work(world, name) as worktree:
        world.agents_git(name, "update-index", "--no-skip-worktree", "--no-assume-unchanged", f"hidden/{name}.txt")
        commit(world, name, worktree)


def _commit(world: World, name: str, message: str, *words: str) -> bool:
    world.agents_git(name, "-c", "commit.gpgSign=false", "commit", "--quiet", *words, "-m", message)
    world.note_commit(world.agents_git(name, "rev-parse", "HEAD"))
    return True


def amend(world: World, name: str, worktree: Path) -> bool:
    old = _own_commits(world, name)
    if not old:
        return False
    _commit(world, name, f"Amended {world.new_token()}", "--amend", "--allow-empty")
    world.let_go_commits(old[:1])
    return True


def merge_with_a_change_inside(world: World, name: str, worktree: Path) -> bool:
    """What is only in the merge commit is in neither of its parents."""
    if world.agents_git(name, "status", "--porcelain"):
        return False
    token, branch = world.new_token(), world.agents_git(name, "symbolic-ref", "--short", "HEAD")
    side, on_the_side, is_back = "", world.belongings.before(name), False
    try:
        world.agents_git(name, "checkout", "--quiet", "--detach")
        _commit_file(world, name, worktree / "sides" / f"{token}-side.txt")
        side, on_the_side = world.agents_git(name, "rev-parse", "HEAD"), world.belongings.before(name)
        world.agents_git(name, "checkout", "--quiet", branch)
        is_back = True
        _commit_file(world, name, worktree / "sides" / f"{token}-main.txt")
        world.agents_git(name, "merge", "--quiet", "--no-ff", "--no-commit", side)
        return _commit_file(world, name, worktree / "sides" / f"{token}-inside.txt")
    except FAILURES:
        leaving = world.belongings.before(name)
        with suppress(*FAILURES):
            world.agents_git(name, "merge", "--abort")
        with suppress(*FAILURES):
            world.agents_git(name, "checkout", "--quiet", "--force", branch)
            is_back = True
            leaving.let_go("a merge of the agent's own, aborted")
        if is_back and side:  # no name led to it, and the agent has left it
            on_the_side.let_go("a merge of the agent's own, aborted")
            world.let_go_commits([side])
        raise


def _commit_file(world: World, name: str, file: Path) -> bool:
    world.belongings.write(name, file, f"{world.new_token()}\n")
    world.agents_git(name, "add", "--all", "--force", "--", str(file))
    return _commit(world, name, f"Side {file.stem}")


def rebase_itself(world: World, name: str, worktree: Path) -> bool:
    old = _own_commits(world, name)
    leaving = world.belongings.before(name)
    try:
        world.agents_git(name, "-c", "commit.gpgSign=false", "rebase", "--quiet", "origin/main")
    except FAILURES:
        world.agents_git(name, "rebase", "--abort")
        leaving.let_go("a rebase of the agent's own, aborted")
        _let_go_of_missing(world, name, old)
        return True
    for sha in _own_commits(world, name):
        world.note_commit(sha)
    world.let_go_commits(old)
    leaving.let_go("a rebase of the agent's own, which leaves out what is only in a merge")
    return True


def _own_commits(world: World, name: str) -> list[str]:
    return world.agents_git(name, "rev-list", "origin/main..HEAD").split()


def _let_go_of_missing(world: World, name: str, old: list[str]) -> None:
    """What the agent had committed in the middle of a rebase goes with it."""
    world.let_go_commits(set(old) - set(_own_commits(world, name)))


def detach_its_head(world: World, name: str, worktree: Path) -> bool:
    world.agents_git(name, "checkout", "--quiet", "--detach")
    if world.random.random() < 0.5:
        _commit(world, name, f"Detached {world.new_token()}", "--allow-empty")
    return True


def abort_a_rebase(world: World, name: str, worktree: Path) -> bool:
    leaving, old = world.belongings.before(name), _own_commits(world, name)
    world.agents_git(name, "rebase", "--abort")
    leaving.let_go("the agent aborted a rebase")
    _let_go_of_missing(world, name, old)
    return True


def push(world: World, name: str, worktree: Path) -> bool:
    """It must not get there: the user's branches are moved by accepts and by the user alone."""
    target = world.random.choice(("topic", "main", f"pushed-by-{name}"))
    world.agents_git(name, "push", "--quiet", "--force", "origin", f"HEAD:refs/heads/{target}")
    return True


HANDS: tuple[tuple[Callable[[World, str, Path], bool], int], ...] = (
    (leave_a_file, 8),
    (change_a_tracked_file, 5),
    (change_a_hidden_file, 4),
    (delete_a_file, 2),
    (commit, 4),
    (amend, 2),
    (merge_with_a_change_inside, 4),
    (rebase_itself, 2),
    (detach_its_head, 1),
    (abort_a_rebase, 1),
    (push, 3),
)
