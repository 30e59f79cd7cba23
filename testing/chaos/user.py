"""What the user does in their own checkout all the while, and expects to find again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from llmc.host.locks import FileLock
from testing.chaos.belongings import USER, Belonging
from testing.chaos.hands import FAILURES, LOCK_SECS
from testing.chaos.world import World

MANY = 12
"""Files that the user has lying about at most."""


def work_by_hand(world: World) -> str:
    deed = world.random.choice(DEEDS)
    done = False
    with suppress(*FAILURES):
        done = deed(world)
    words = f"user: {deed.__name__.replace('_', ' ')}"
    return words if done else f"{words} (not possible)"


def write_a_file(world: World) -> bool:
    if len(world.belongings.of(USER)) > MANY:
        return False
    token = world.new_token()
    name = world.random.choice((f"mine/{token}.txt", f"files/{token}-mine.txt", f"mine/{token}.log"))
    world.belongings.write(USER, world.source / name, f"{token}\n")
    return True


def edit_the_draft(world: World) -> bool:
    world.belongings.write(USER, world.source / "draft", f"{world.new_token()}\n")
    return True


def stage_a_file(world: World) -> bool:
    token = world.new_token()
    file = world.source / "staged" / f"{token}.txt"
    world.belongings.write(USER, file, f"{token}\n")
    world.git("add", "--", str(file))
    return True


def stand_in_the_way(world: World) -> bool:
    """A file of the user's, where the work of some worker has one too: it must not land there."""
    name = world.a_worker()
    clone = Path(world.root.git_dir)
    added = world.git("diff-tree", "-r", "--name-only", "--diff-filter=A", "origin/main", f"llmc/{name}", cwd=clone)
    paths = [path for path in added.splitlines() if path.endswith(".txt")]
    if not paths or len(world.belongings.of(USER)) > MANY:
        return False
    file = world.source / world.random.choice(paths)
    with FileLock(world.root.landing_lock, timeout=LOCK_SECS):
        if file.exists() or _is_tracked(world, file):
            return False
        world.belongings.write(USER, file, f"{world.new_token()}\n")
    return True


def _is_tracked(world: World, file: Path) -> bool:
    return bool(world.git("ls-files", "--", str(file)))


def remove_a_file(world: World) -> bool:
    loose = [each for each in world.belongings.of(USER) if _is_loose(world, each)]
    if not loose:
        return False
    world.belongings.remove(world.random.choice(loose))
    return True


def _is_loose(world: World, each: Belonging) -> bool:
    return each.is_there and each.file.name != "draft" and not _is_tracked(world, each.file)


def commit_by_hand(world: World) -> bool:
    token = world.new_token()
    file = world.source / "hand" / f"{token}.txt"
    world.belongings.write(USER, file, f"{token}\n")
    world.git("add", "--", str(file))
    # An accept may move the branch in this very moment: then the file stays as it is, staged.
    world.git("commit", "--quiet", "-m", f"By hand {token}", "--", str(file))
    # By its subject: by the time we ask, an accept may have put another one on top.
    world.by_hand.append(world.git("log", "-1", "--format=%H", f"--grep=By hand {token}"))
    return True


def move_the_other_branch(world: World) -> bool:
    tree = world.git("rev-parse", "topic^{tree}")
    sha = world.git("commit-tree", "-p", "topic", "-m", f"Topic {world.new_token()}", tree)
    world.git("update-ref", "refs/heads/topic", sha)
    world.branches["topic"] = sha
    return True


DEEDS: tuple[Callable[[World], bool], ...] = (
    write_a_file,
    write_a_file,
    edit_the_draft,
    stage_a_file,
    stand_in_the_way,
    remove_a_file,
    remove_a_file,
    remove_a_file,
    commit_by_hand,
    commit_by_hand,
    move_the_other_branch,
)
