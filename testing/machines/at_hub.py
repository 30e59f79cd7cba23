"""A hub with its daemon, machines that have joined it, and agents whose every prompt is written down outside of all."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from testing.commands import NO_CHANGES, Changes, Said
from testing.machines.plan import RUN
from testing.machines.three import NAMES, Hub, Machine, Machines
from testing.moved_clock import CLOCK
from testing.namespace import PROJECT
from testing.story import script
from testing.waiting import wait_until

PATIENCE_SECS = 120.0
LOOKS_EVERY_SECS = 0.2
"""Each look is a process."""
SETTINGS = """
[agents.remembering]
command = ["{python}", "-P", "-m", "testing.chaos.agent"]
env = {{ PYTHONPATH = "{path}", LLMC_CHAOS_MEMORY = "{memory}", LLMC_CHAOS_CLOCK = "{clock}" }}
clear = "/clear"
pack = "demo"
events = true
"""


@dataclass(slots=True)
class AtHub(Hub):
    """The user of a hub, who waits for what is to happen."""

    @property
    def memory(self) -> Path:
        return self.bed.place / "shared" / "prompts"

    def begin(self) -> None:
        Hub.begin(self)
        with open(self.root / "config.toml", "a", encoding="utf-8") as config:
            told = {
                "python": sys.executable,
                "path": f"{CLOCK}:{PROJECT}",
                "memory": self.memory,
                "clock": f"{RUN}/clock",
            }
            config.write(SETTINGS.format(**told))
        self.run("config", "set", "defaults.agent", "remembering")

    def join(self, names: Iterable[str], *words: str) -> None:
        for name in names:
            self.run("machine", "add", name, "--ssh", name, *words)

    def up(self) -> None:
        self.run("up", "--detach")

    # --- what is known ------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.run("status", "--json").out)
        return told

    def worker(self, name: str) -> dict[str, Any]:
        return next(each for each in self.status()["workers"] if each["name"] == name)

    def machine(self, name: str) -> dict[str, Any]:
        return next(each for each in self.status()["machines"] if each["name"] == name)

    def task(self, id: str) -> dict[str, Any]:  # noqa: A002 - as people say it
        return next(each for each in self.tasks() if each["id"] == id)

    def tasks(self) -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = json.loads(self.run("task", "list", "--all", "--json").out)["tasks"]
        return told

    def subjects(self) -> list[str]:
        """What the user's branch has, oldest first."""
        return self.git("log", "--reverse", "--format=%s", "main").splitlines()

    def heard(self, token: str) -> int:
        """How many prompts with this in them any agent has accepted, wherever it was."""
        return sum(token in json.loads(line)["text"] for line in _lines(self.memory))

    def heard_all(self) -> Counter[str]:
        return Counter(json.loads(line)["text"] for line in _lines(self.memory))

    def git_of_root(self, *words: str) -> str:
        """In the hub's own clone."""
        return self.bed.run("git", "--git-dir", str(self.root / ".git"), *words, env=self.environment()).out.strip()

    # --- waiting ------------------------------------------------------------------------------------

    def until(self, condition: Callable[[], object]) -> None:
        try:
            wait_until(condition, PATIENCE_SECS, LOOKS_EVERY_SECS)
        except AssertionError as late:
            raise AssertionError(f"{late}\n{self.account()}") from None

    def wait_for(self, name: str, **wanted: object) -> dict[str, Any]:
        self.until(lambda: _is_so(self.worker(name), wanted))
        return self.worker(name)

    def wait_for_machine(self, name: str, state: str) -> None:
        self.until(lambda: self.machine(name)["state"] == state)

    def wait_for_task(self, id: str, *states: str) -> dict[str, Any]:  # noqa: A002 - as people say it
        self.until(lambda: self.task(id)["state"] in states)
        return self.task(id)

    def account(self) -> str:
        """What is known, for the words of a failure."""
        log = self.root / "logs" / "daemon.log"
        return "\n".join(
            [self.run("status", check=False).words, self.run("task", "list", "--all", check=False).words]
            + ([log.read_text()[-3000:]] if log.exists() else [])
        )

    # --- what is done -------------------------------------------------------------------------------

    def seat(self, name: str, machine: str) -> None:
        """A worker there whose agent is up."""
        self.run("add", name, "--machine", machine)
        self.wait_for(name, status="idle", session="up")

    def check_machine(self, name: str) -> None:
        """Until it is one of ours again."""
        self.until(lambda: self.run("machine", "check", name, check=False).code == 0)
        self.wait_for_machine(name, "ok")

    def kill_daemon(self) -> None:
        pid = self.status()["daemon"]["pid"]
        if pid is not None:
            self.bed.kill(pid)
            self.until(lambda: not self.status()["daemon"]["running"])

    def in_background(self, *words: str, env: Changes = NO_CHANGES) -> Errands:
        return Errands(self, [words], env)

    def work(self, name: str, token: str, *more: str) -> None:
        """A task that ends with a commit named after the token, to be reviewed."""
        self.run("start", "--worker", name, "--prompt", job(token, *more))
        self.wait_for(name, status="needs_review")


class Errands:
    """Commands side by side, each in a thread of ours."""

    def __init__(self, hub: AtHub, lines: Iterable[tuple[str, ...]], env: Changes = NO_CHANGES) -> None:
        self.said: list[Said] = []
        self._threads = [Thread(target=self._run, args=(hub, words, env)) for words in lines]
        for each in self._threads:
            each.start()

    def _run(self, hub: AtHub, words: tuple[str, ...], env: Changes) -> None:
        self.said.append(hub.run(*words, check=False, env=env))

    @property
    def are_over(self) -> bool:
        return not any(each.is_alive() for each in self._threads)

    def ended(self) -> list[Said]:
        for each in self._threads:
            each.join()
        return self.said


def job(token: str, *before: str) -> str:
    return script(*before, f"write {token}.txt {token}", f"commit Add {token}")


def root_on(machine: Machine) -> Path:
    """The root there, as this process sees it."""
    (place,) = machine.seen("").glob("llmc-*/root")
    return place


@contextmanager
def hub_with(bed: Machines, *names: str, words: tuple[str, ...] = ()) -> Iterator[AtHub]:
    """A hub of these machines, whose daemon is connected to each."""
    with TemporaryDirectory(prefix="llmc-hub-") as directory:
        place = Path(directory)
        with AtHub(place / "home", place / "root", bed=bed) as hub:
            hub.begin()
            hub.join(names or NAMES, *words)
            hub.up()
            for name in names or NAMES:
                hub.wait_for_machine(name, "ok")
            yield hub


def _is_so(told: dict[str, Any], wanted: dict[str, object]) -> bool:
    return all(told[key] == value for key, value in wanted.items())


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []
