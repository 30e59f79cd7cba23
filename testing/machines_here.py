"""Machines without a network: a command as the reach, and a home of its own for each."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import sysconfig
from pathlib import Path
from typing import Any

from llmc.daemon.process import running_daemon
from llmc.root import Root
from testing.story import Story
from testing.waiting import wait_until

PROGRAM = Path(sysconfig.get_path("scripts"), "llmc")
CUTTABLE = f"{shlex.quote(sys.executable)} {shlex.quote(str(Path(__file__).with_name('cut_reach.py')))}"


def prefix_of(story: Story, name: str) -> str:
    """Reaches the machine while the file of that name is not there: `cut` makes it."""
    home = story.place / name
    home.mkdir(exist_ok=True)
    return f"{CUTTABLE} {shlex.quote(str(story.place / f'{name}.cut'))} env HOME={shlex.quote(str(home))} sh -c"


def add_machine(story: Story, name: str, *words: str) -> Root:
    """The root of the new machine."""
    command = ["machine", "add", name, "--command", prefix_of(story, name), "--program", str(PROGRAM), *words]
    story.llmc(*command)
    return machine_root(story, name)


def machine_root(story: Story, name: str) -> Root:
    (place,) = (story.place / name).glob("llmc-*/root")
    return Root(str(place))


def cut(story: Story, name: str) -> None:
    """Every connection that there is breaks, and no other begins."""
    mark = story.place / f"{name}.cut"
    mark.touch()
    for pid in _reaching(str(mark)):
        os.kill(pid, signal.SIGKILL)


def heal(story: Story, name: str) -> None:
    (story.place / f"{name}.cut").unlink()


def machine(story: Story, name: str) -> dict[str, Any]:
    return next(each for each in story.json("status")["machines"] if each["name"] == name)


def worker(story: Story, name: str) -> dict[str, Any]:
    return next(each for each in story.json("status")["workers"] if each["name"] == name)


def task(story: Story, task_id: str) -> dict[str, Any]:
    return next(each for each in story.json("task", "list", "--all")["tasks"] if each["id"] == task_id)


def wait_for(story: Story, name: str, **wanted: object) -> dict[str, Any]:
    """Also for a machine to tell of it: after `llmc add` it may take a moment."""

    def is_so() -> bool:
        found = [each for each in story.json("status")["workers"] if each["name"] == name]
        return bool(found) and all(found[0][key] == value for key, value in wanted.items())

    story.until(is_so)
    return worker(story, name)


def wait_for_daemon(root: Root) -> int:
    holder = wait_until(lambda: running_daemon(root))
    return holder.pid if holder is not None else 0


def _reaching(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words[:4]:
            found.append(int(entry.name))
    return found
