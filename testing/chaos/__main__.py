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
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from testing.chaos.account import commits_made, losses_at_rest, losses_at_the_end, whole
from testing.chaos.disasters import befall
from testing.chaos.hands import handle
from testing.chaos.injections import INJECTIONS
from testing.chaos.people import act
from testing.chaos.rest import come_to_rest
from testing.chaos.tricks import play_a_trick, set_traps
from testing.chaos.user import work_by_hand
from testing.chaos.world import DISK_MB, World
from testing.namespace import PROJECT

INSIDE = "LLMC_CHAOS_INSIDE"


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
    parser.add_argument("--inject", choices=list(INJECTIONS), help="lose one thing on purpose: the account must tell")
    parser.add_argument("--account", help="write down in this file where everything is in the end")
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
    set_traps(world)
    _let_it_happen(world, words.seconds)
    print("and now the repair", flush=True)
    losses = come_to_rest(world)
    if words.inject:
        print(f"lost on purpose: {INJECTIONS[words.inject](world)}", flush=True)
    losses += losses_at_rest(world)
    if words.account:
        Path(words.account).write_text("\n".join(whole(world)) + "\n")
    world.run("down", "--force")
    losses += losses_at_the_end(world)
    _tell(world, losses)
    return losses


def _let_it_happen(world: World, seconds: float) -> None:
    until = time.monotonic() + seconds
    loops: tuple[tuple[Callable[[World], str], float], ...] = (
        (act, 0.1),
        (act, 0.1),
        (handle, 0.5),
        (play_a_trick, 2.0),
        (work_by_hand, 1.0),
        (befall, 1.5),
        (_bring_up, 2.0),
    )
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


def _tell(world: World, losses: list[str]) -> None:
    print("what happened:")
    for what, times in sorted(world.happened.items()):
        print(f"  {times:5d}  {what}")
    print("where everything is:")
    for (kind, where), times in sorted(Counter(_short(line) for line in whole(world)).items()):
        print(f"  {times:5d}  {kind} {where}")
    commits = len(commits_made(world))
    print(f"files written: {len(world.belongings.all())}")
    receipts: dict[str, int] = {}
    for sent in world.sent:
        receipts[sent.outcome] = receipts.get(sent.outcome, 0) + 1
    print(f"texts: {', '.join(f'{count} {outcome}' for outcome, count in sorted(receipts.items()))}")
    print(f"commits by agents: {commits}; by the user: {len(world.by_hand)}; accepted: {len(world.landed)}")
    print(f"lost: {len(losses) or 'zero'}")
    for loss in losses:
        print(f"  {loss}")


def _short(line: str) -> tuple[str, str]:
    """Of what kind, and where."""
    thing, _, where = line.rpartition(": ")
    return thing.partition(" ")[0], where.partition("; ")[0]


if __name__ == "__main__":
    sys.exit(main())
