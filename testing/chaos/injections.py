"""Losses made on purpose, behind LLMC's back: an account that does not tell of one of these would miss a real one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from testing.chaos.account import commits_made
from testing.chaos.belongings import USER
from testing.chaos.hands import at_work, commit, leave_a_file
from testing.chaos.world import World


def lose_a_commit(world: World) -> str:
    """Of a worker's branch, with every name that leads to it."""
    name = world.a_worker()
    with at_work(world, name) as worktree:
        leave_a_file(world, name, worktree)
        commit(world, name, worktree)
    sha = commits_made(world)[-1]
    for ref in world.read_git("for-each-ref", "--format=%(refname)", f"--contains={sha}").split():
        world.read_git("update-ref", "-d", ref)
    return f"the commit {sha}"


def lose_an_agents_file(world: World) -> str:
    name = world.a_worker()
    with at_work(world, name) as worktree:
        leave_a_file(world, name, worktree)
        belonging = world.belongings.of(name)[-1]
        belonging.file.unlink()
    return str(belonging)


def lose_a_users_file(world: World) -> str:
    token = world.new_token()
    belonging = world.belongings.write(USER, world.source / "mine" / f"{token}.txt", f"{token}\n")
    belonging.file.unlink()
    return str(belonging)


def lose_a_prompt(world: World) -> str:
    """The agent forgets that it came."""
    token = _delivered(world)
    kept = [line for line in world.memory.read_text().splitlines() if token not in json.loads(line)["text"]]
    world.memory.write_text("".join(f"{line}\n" for line in kept))
    return f"the prompt {token!r}"


def run_a_prompt_twice(world: World) -> str:
    token = _delivered(world)
    lines = [line for line in world.memory.read_text().splitlines() if token in json.loads(line)["text"]]
    with world.memory.open("a") as memory:
        memory.write(f"{lines[0]}\n")
    return f"the prompt {token!r}"


def _delivered(world: World) -> str:
    """One that arrived, and is neither lost nor doubled yet."""
    said = world.memory.read_text()
    fitting = (
        each.token for each in world.sent if each.outcome == "delivered" and said.count(f'"{each.token}\\n') == 1
    )
    return next(fitting)


def move_a_branch(world: World) -> str:
    sha = world.git("commit-tree", "-p", "topic", "-m", "Nobody's", "topic^{tree}")
    world.git("update-ref", "refs/heads/topic", sha)
    return "the user's branch topic"


def leave_the_checkout_half_written(world: World) -> str:
    """As a fast-forward that was killed leaves it."""
    (world.source / "README").write_text("one\ntw")
    Path(world.source, "brought.txt").write_text("by half a landing\n")
    return "README"


INJECTIONS: dict[str, Callable[[World], str]] = {
    "commit": lose_a_commit,
    "agents-file": lose_an_agents_file,
    "users-file": lose_a_users_file,
    "prompt-lost": lose_a_prompt,
    "prompt-twice": run_a_prompt_twice,
    "branch-moved": move_a_branch,
    "half-written": leave_the_checkout_half_written,
}
"""Each answers with words that the account has to have."""
