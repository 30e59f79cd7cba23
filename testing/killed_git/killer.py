"""Runs git and kills it: `killer.py MOMENT CHANGES OUTCOME GIT WORDS...`, started by the `git` beside it.

For the middle of git's work, its files are watched. Git then runs on the same processor as this program and gives way
to it at once, so that it is stopped at the very write that was seen.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from inotify_simple import INotify, flags

CHANGES = flags.CREATE | flags.DELETE | flags.MOVED_TO | flags.MOVED_FROM | flags.MODIFY
PAUSE_MS = 5


def main(moment: str, changes: str, outcome: str, *argv: str) -> int:
    # What dies with git is git and what it has started, nobody else.
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    if moment == "start":
        _die(outcome)
    if moment == "end":
        subprocess.run(argv, check=False)
        _die(outcome)
    return _kill_in_the_middle(int(changes), outcome, argv, with_caller=moment == "cut")


def _kill_in_the_middle(changes: int, outcome: str, argv: tuple[str, ...], with_caller: bool) -> int:
    watch = INotify(nonblocking=True)
    for directory in set(_directories(argv[0])):
        with suppress(OSError):
            watch.add_watch(directory, CHANGES)
    caller = os.getppid()
    process = subprocess.Popen(argv, preexec_fn=_give_way)
    while (code := process.poll()) is None:
        if select.select([watch.fileno()], [], [], PAUSE_MS / 1000)[0]:
            changes -= len(watch.read(timeout=0))
        if changes <= 0:
            process.kill()
            Path(outcome).write_text("killed\n")
            if with_caller:
                os.kill(caller, signal.SIGKILL)
            _die(outcome)
    Path(outcome).write_text("ended\n")
    return code


def _give_way() -> None:
    with suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _directories(git: str) -> Iterator[str]:
    """Where this git may write: what it is called in, its repository, and the one that it shares."""
    asked = (git, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir")
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split("\n")
    places = [os.getcwd(), *(line for line in said if line), *filter(None, [os.environ.get("GIT_WORK_TREE")])]
    for place in places:
        for folder, _, _ in os.walk(place, followlinks=True):
            yield os.path.realpath(folder)


def _die(outcome: str) -> None:
    Path(outcome).write_text("killed\n")
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    with suppress(OSError, AttributeError):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sys.exit(main(*sys.argv[1:]))
