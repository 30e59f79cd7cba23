"""The end of all disasters: a person comes, reads what LLMC says, and does it. Then there is an account to give."""

from __future__ import annotations

import os
import time
from pathlib import Path

from testing.chaos.people import add_again
from testing.chaos.tricks import lead_all_back
from testing.chaos.world import World

REST_SECS = 60.0
AN_HOUR = 3600.0
REPAIR = ("doctor", "--repair", "--yes")


def come_to_rest(world: World) -> list[str]:
    """What is lost if it does not come to that."""
    world.killed_git.called_off()
    world.clock.write_text("0")
    lead_all_back(world)
    _age_locks(world)
    world.run("up", "--detach")
    world.run(*REPAIR)
    add_again(world)
    world.run("up", "--detach")
    _wait_for_rest(world)
    said = world.run(*REPAIR)
    return [] if said.code == 0 else [f"doctor --repair --yes ended with {said.code}:\n{said.words[-3000:]}"]


def _age_locks(world: World) -> None:
    """The person comes an hour later: what a killed git has left is no longer news."""
    then = time.time() - AN_HOUR
    for place in (Path(world.root.git_dir), world.source / ".git"):
        for lock in place.rglob("*.lock"):
            os.utime(lock, (then, then))


def _wait_for_rest(world: World) -> None:
    until = time.monotonic() + REST_SECS
    before: dict[str, str] = {}
    while time.monotonic() < until:
        now = world.statuses()
        if now and now == before and "working" not in now.values():
            return
        before = now
        time.sleep(2.0)
