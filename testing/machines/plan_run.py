"""`make machines-plan`: a plan of tasks for workers of three machines, one of them the real Claude Code; all must land.

`python -m testing.machines.plan_run --reach slurm --tasks 20 --workers 9`
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from testing.commands import PATIENCE_SECS as HANGS_SECS
from testing.machines.at_hub import LOOKS_EVERY_SECS, AtHub
from testing.machines.errands import begin
from testing.machines.slurm import NODE_CPUS, slurm_on
from testing.machines.three import NAMES, Machine, Machines, three_machines
from testing.namespace import PROJECT
from testing.real_clis import AGENTS
from testing.waiting import wait_until

REACHES = ("ssh", "slurm")
MODEL_PORT = 8099
INSTALLED = "/usr/local/bin/claude"
PROGRAMS = PROJECT / ".agents" / "node_modules" / ".bin"
PLACES = f"{PROGRAMS}:{PROJECT / '.agents' / 'python' / 'bin'}"
LAUNCHER = f'#!/bin/sh\nPATH="{PLACES}:$PATH" exec {PROGRAMS / "claude"} "$@"\n'
CLAUDE = next(agent for agent in AGENTS if agent.name == "claude")
PATIENCE_SECS = 1200.0
FLAGS = f"--partition=cpu --cpus-per-task={NODE_CPUS} --time=120"
TASK = """\
## Part {number:02}
{more}
demo:write parts/{number:02}.txt part {number}
demo:commit Add part {number:02}
model:run(mkdir -p parts && echo {number} >parts/{number:02}.txt && git add -A && git commit -qm "Add part {number:02}")
"""
EVERY_FIFTH_WAITS = 5


def plan(tasks: int) -> str:
    """Some wait for others, one only a certain machine may do."""
    parts = []
    for number in range(1, tasks + 1):
        waits = number % EVERY_FIFTH_WAITS == 0
        more = f"after: Part {number - 1:02}\n" if waits else "machine: special\n" if number == 2 else ""
        parts.append(TASK.format(number=number, more=more))
    return "\n".join(parts)


def has_claude() -> bool:
    return (PROGRAMS / "claude").exists()


@contextmanager
def model_on(machine: Machine) -> Iterator[None]:
    """The model that Claude Code talks to, on the machine's own loopback."""
    argv = [sys.executable, "-P", "-m", "testing.models", "--port", str(MODEL_PORT)]
    env = {"PATH": "/usr/bin:/bin", "HOME": machine.home, "PYTHONPATH": str(PROJECT), "LANG": "C.UTF-8"}
    order = {"argv": argv, "env": env, "cwd": machine.home}
    errand = begin(machine.socket, order, machine.bed.nowhere, HANGS_SECS)
    try:
        yield
    finally:
        machine.run("kill", str(errand.pid), check=False)
        errand.connection.close()


def logged_in(hub: AtHub, machine: Machine) -> None:
    """Claude Code as its user has it there, who has used it before."""
    url = f"http://127.0.0.1:{MODEL_PORT}"
    CLAUDE.prepare(machine.seen(""), url)
    variables = {name: value.format(url=url, home=machine.home) for name, value in CLAUDE.variables.items()}
    machine.run("sh", "-c", f"cat >{INSTALLED} && chmod 755 {INSTALLED}", stdin=LAUNCHER.encode())
    hub.run("config", "set", "agents.claude.command", json.dumps(list(CLAUDE.argv)))
    hub.run("config", "set", "agents.claude.env", _inline(variables))


def _inline(table: dict[str, str]) -> str:
    return f"{{ {', '.join(f'{name} = {json.dumps(value)}' for name, value in table.items())} }}"


def run_plan(bed: Machines, reach: str, tasks: int, workers: int, *, claude: bool) -> list[str]:
    """What is wrong in the end; nothing, if all is well."""
    with tempfile.TemporaryDirectory(prefix="llmc-plan-") as directory:
        place = Path(directory)
        with AtHub(place / "home", place / "root", bed=bed) as hub:
            hub.begin()
            models = [model_on(machine) if claude else nullcontext() for machine in bed.machines.values()]
            with models[0], models[1], models[2]:
                for machine in bed.machines.values():
                    if claude:
                        logged_in(hub, machine)
                _join(hub, reach)
                hub.up()
                _seat(hub, workers, claude=claude)
                return _land_all(hub, tasks)


def _join(hub: AtHub, reach: str) -> None:
    for number, name in enumerate(NAMES, 1):
        how = ["--ssh", name]
        if reach == "slurm":
            how = ["--slurm", FLAGS, "--home", str(hub.bed.place / "shared" / f"home{number}")]
        said = hub.run("machine", "add", f"n{number}", *how, *(["--labels", "special"] if number == 1 else []))
        _say(said.out.splitlines()[0])


def _seat(hub: AtHub, workers: int, *, claude: bool) -> None:
    """Claude Code sits on the first machine, where its user has answered what it asks about a new directory."""
    for number in range(workers):
        machine = f"n{number % len(NAMES) + 1}"
        agent = "claude" if claude and number == 0 else "remembering"
        hub.run("add", f"w{number + 1}", "--machine", machine, "--agent", agent)
        if agent == "claude":
            hub.until(lambda: any(each["name"] == "w1" for each in hub.status()["workers"]))
            worktree = Path(hub.worker("w1")["worktree_path"])
            for each in hub.bed.machines.values():
                for directory in (worktree, worktree.parents[1]):
                    CLAUDE.accept(each.seen(""), directory)
            hub.run("restart", "w1", "--yes", check=False)
    for number in range(workers):
        hub.wait_for(f"w{number + 1}", status="idle", session="up")


def _land_all(hub: AtHub, tasks: int) -> list[str]:
    """A user who accepts whatever is there to review."""
    began = time.monotonic()
    hub.run("task", "import", "-", stdin=plan(tasks).encode())

    def goes_on() -> bool:
        for each in hub.status()["workers"]:
            if each["status"] == "needs_review" and each["task"]:
                _say(hub.run("accept", each["name"], check=False).words.splitlines()[0])
        return all(task["state"] == "landed" for task in hub.tasks())

    try:
        wait_until(goes_on, PATIENCE_SECS, LOOKS_EVERY_SECS)
    except AssertionError:
        return ["not every task landed", hub.account()]
    _say(f"{tasks} tasks landed in {time.monotonic() - began:.0f} s")
    return _wrong(hub, tasks)


def _wrong(hub: AtHub, tasks: int) -> list[str]:
    wanted = sorted(f"Add part {number:02}" for number in range(1, tasks + 1))
    had = sorted(hub.subjects()[1:])
    wrong = [] if had == wanted else [f"the branch has {had}"]
    if merges := hub.git("rev-list", "--merges", "main"):
        wrong.append(f"the branch has merges: {merges}")
    texts = hub.heard_all()
    wrong += [f"accepted {times} times: {text!r}" for text, times in texts.items() if times != 1]
    wrong += [f"{each['id']} took {each['attempts']} attempts" for each in hub.tasks() if each["attempts"] != 1]
    trailers = hub.git("log", "--format=%B", "main")
    return [*wrong, *(["an agent's advertising landed"] if "Co-Authored-By" in trailers else [])]


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m testing.machines.plan_run", description=__doc__)
    parser.add_argument("--reach", choices=REACHES, action="append", help="default: both")
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--workers", type=int, default=9)
    parser.add_argument("--claude", action=argparse.BooleanOptionalAction, default=has_claude())
    words = parser.parse_args(argv)
    wrong = []
    for reach in words.reach or REACHES:
        with three_machines() as bed, slurm_on(bed) if reach == "slurm" else nullcontext() as settings:
            if settings is not None:
                bed.more["SLURM_CONF"] = str(settings)
            _say(f"over {reach}:")
            wrong += run_plan(bed, reach, words.tasks, words.workers, claude=words.claude)
    _say("\n".join(wrong) or "every task landed, as one commit")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
