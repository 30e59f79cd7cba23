"""`python -m testing.chaos`: on a small disk of its own, in namespaces of its own, so that nothing is left of it."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from testing.chaos.account import losses_at_rest, losses_at_the_end
from testing.chaos.disasters import befall
from testing.chaos.people import act
from testing.chaos.world import DISK_MB, World
from testing.namespace import PROJECT

INSIDE = "LLMC_CHAOS_INSIDE"
REST_SECS = 60.0


def main() -> int:
    words = _parser().parse_args()
    if os.environ.get(INSIDE) is None and words.own_disk:
        return _run_inside()
    with tempfile.TemporaryDirectory(prefix="llmc-chaos-", ignore_cleanup_errors=True) as outside:
        place = Path(outside, "disk")
        place.mkdir()
        if os.environ.get(INSIDE):
            options = f"size={DISK_MB}m,mode=700"
            subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(place)], check=True)
        names = tuple(f"worker{number:02d}" for number in range(1, words.workers + 1))
        world = World(place, Path(outside), random.Random(words.seed), names)
        losses = _live(world, words)
        if losses and words.keep:
            shutil.copytree(outside, words.keep, symlinks=True, dirs_exist_ok=True)
        return 1 if losses else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m testing.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long disasters happen")
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument(
        "--own-disk", action=argparse.BooleanOptionalAction, default=shutil.which("unshare") is not None
    )
    parser.add_argument("--keep", help="after a loss, copy everything to this directory")
    return parser


def _run_inside() -> int:
    as_user = [] if os.geteuid() == 0 else ["--map-root-user"]
    spaces = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    argv = ["unshare", *as_user, *spaces, "--", sys.executable, "-m", "testing.chaos", *sys.argv[1:]]
    return subprocess.run(argv, cwd=PROJECT, env={**os.environ, INSIDE: "1"}, check=False).returncode


def _live(world: World, words: argparse.Namespace) -> list[str]:
    print(f"seed {words.seed}, {words.workers} workers, {words.seconds:.0f} seconds", flush=True)
    world.begin()
    _let_it_happen(world, words.seconds)
    print("and now the repair", flush=True)
    world.clock.write_text("0")
    losses = _repair(world)
    losses += list(losses_at_rest(world))
    world.run("down", "--force")
    losses += list(losses_at_the_end(world))
    _tell(world, losses)
    return losses


def _let_it_happen(world: World, seconds: float) -> None:
    until = time.monotonic() + seconds
    loops: tuple[tuple[Callable[[World], str], float], ...] = ((act, 0.1), (act, 0.1), (befall, 1.5), (_bring_up, 2.0))
    failures: list[BaseException] = []
    threads = [threading.Thread(target=_repeat, args=(world, deed, pause, until, failures)) for deed, pause in loops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def _repeat(
    world: World, deed: Callable[[World], str], pause: float, until: float, failures: list[BaseException]
) -> None:
    try:
        while time.monotonic() < until and not failures:
            world.note(deed(world))
            time.sleep(pause)
    except BaseException as failure:
        failures.append(failure)


def _bring_up(world: World) -> str:
    """As a service manager would."""
    if world.daemon() is not None:
        return "the daemon runs"
    said = world.run("up", "--detach")
    if said.code == 0:
        return "the daemon was brought up"
    # A person reads what it says and does it.
    world.run("doctor", "--repair", "--yes")
    return "doctor was asked to repair"


def _repair(world: World) -> list[str]:
    world.run("up", "--detach")
    said = world.run("doctor", "--repair", "--yes")
    world.run("up", "--detach")
    _wait_for_rest(world)
    if said.code != 0:
        said = world.run("doctor", "--repair", "--yes")
    return [] if said.code == 0 else [f"doctor --repair --yes ended with {said.code}:\n{said.words[-3000:]}"]


def _wait_for_rest(world: World) -> None:
    until = time.monotonic() + REST_SECS
    before: dict[str, str] = {}
    while time.monotonic() < until:
        now = world.statuses()
        if now and now == before and "working" not in now.values():
            return
        before = now
        time.sleep(2.0)


def _tell(world: World, losses: list[str]) -> None:
    print("what happened:")
    for what, times in sorted(world.happened.items()):
        print(f"  {times:5d}  {what}")
    commits = len(set(world.commits.read_text().split())) if world.commits.exists() else 0
    receipts: dict[str, int] = {}
    for sent in world.sent:
        receipts[sent.outcome] = receipts.get(sent.outcome, 0) + 1
    print(f"texts: {', '.join(f'{count} {outcome}' for outcome, count in sorted(receipts.items()))}")
    print(f"commits by agents: {commits}; by the user: {len(world.by_hand)}; accepted: {len(world.landed)}")
    print(f"lost: {len(losses) or 'zero'}")
    for loss in losses:
        print(f"  {loss}")


if __name__ == "__main__":
    sys.exit(main())
