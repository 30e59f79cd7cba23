"""Landing without a journal, and a git that ends in the middle of it."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from llmc.core.landing.journal import Landing
from llmc.git.land import Landed, Order, land, prepare
from llmc.git.runner import Git
from testing.world import World

KILLED = 'kill -KILL "$PPID"'
"""As a smudge filter: ends the git that asks for the content of a file, before it has written it."""
BIG = "".join(f"line {number} of a file that takes a while\n" for number in range(2000))
STOPPED_AT_BLOCKS = 16
"""Of 512 bytes: a git that writes a larger file is ended by the kernel in the middle of it."""


def begin(git: Git, source: str, root: str, branch: str, old: str, ref: str) -> Landing:
    landing = prepare(git, Order(source, root, branch, old, git.text(root, "rev-parse", ref), ref), time.time())
    assert isinstance(landing, Landing)
    return landing


def land_now(git: Git, source: str, root: str, branch: str, old: str, ref: str) -> Landed:
    landing = prepare(git, Order(source, root, branch, old, git.text(root, "rev-parse", ref), ref), time.time())
    return landing if isinstance(landing, Landed) else land(git, root, landing)


def stopping_git(place: Path) -> Path:
    """A directory with a `git` whose merges are ended while they write the first file that is large."""
    place.mkdir(exist_ok=True)
    script = place / "git"
    script.write_text(
        f'#!/bin/sh\ncase " $* " in *" merge "*) ulimit -c 0; ulimit -f {STOPPED_AT_BLOCKS};; esac\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    script.chmod(0o755)
    return place


@contextmanager
def merges_that_are_stopped(world: World) -> Iterator[None]:
    """Whatever is landed meanwhile ends in the middle of the first large file."""
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{stopping_git(world.story.place / 'stopping')}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before
