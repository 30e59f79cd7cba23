"""What changes a worker's branch, from `add` to `nuke`, against the git commands that it cannot avoid.

One worker passes through all of them in each round, and so does a worktree of bare git beside the same repository.
Another checkout of LLMC can be measured in the same rounds, with a worker and a root of its own.
"""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from unittest.mock import patch

from bench.checkout import HERE, Checkout, compared
from bench.measure import timed
from bench.report import Table, Verdict
from testing.large import make_large_repository
from testing.roots import own_environment

ROUNDS = {1_000: 10, 50_000: 4}
"""How often, by the number of files in the repository."""
TRACKED = "+refs/heads/*:refs/remotes/origin/*"
COLUMNS = ("", "git ms", "± git", "llmc ms", "± llmc", "x git", "± x", "commands of git", "of llmc")
BESIDE_COLUMNS = ("", "its ms", "± its", "llmc ms", "± llmc", "llmc x it", "± x", "its commands", "of llmc")
LIMITS = {
    1_000: {"llmc add": 2.5, "llmc rebase": 4.0, "llmc accept": 4.0},
    50_000: {"llmc add": 1.3, "llmc rebase": 1.3, "llmc accept": 1.3},
}
OVER = {
    1_000: "Two thirds of the processor time of a rebase, and half of that of an accept, are the start of Python and"
    " its imports, and half of the imports are Python's own library; the rest is the start of more git commands",
    50_000: "On top of that git is asked for the whole status, untracked files included, and for hidden files,"
    " before anything moves: once for a rebase, three times for an accept (worktree, checkout, and before the reset)."
    " That is what backups and refusals rest on, and each takes about as long as a third of the bare commands",
}
IN_MEMORY = Path("/dev/shm")
MANY = 10_000
"""Writing so many files keeps a disk busy for longer than all that is measured: they are made in memory."""
NOTE = (
    "git: nothing but the commands without which it cannot be done. llmc is a process of its own from its start to its"
    " end. The difference has two parts. Python and the modules of a command that changes something take their time,"
    " the same for each. And every name that it relies on is asked for just before, of one git that stays for all of"
    " these questions, work is backed up before it moves, the checkout is asked whether it can take the work, and each"
    " step is on the disk before it is taken: more git commands, which cost little in a large repository beside what"
    " git itself does there."
)
SCRIPTS = {
    "add": "git fetch -q origin; git worktree add -q -b bare/{name} {worktree} origin/main",
    "rebase": "git fetch -q origin; cd {worktree}; git rebase -q origin/main",
    "accept": """git fetch -q origin
        git -C {worktree} status --porcelain >{worktree}.status
        tree=$(git merge-tree --write-tree origin/main bare/{name})
        made=$(git commit-tree -p origin/main -m work "$tree")
        git update-ref refs/bare/{name} "$made"
        git -C {source} fetch -q {clone} refs/bare/{name}
        git -C {source} merge -q --ff-only "$made"
        git -C {worktree} reset -q --hard "$made" """,
    "reset": "git fetch -q origin; cd {worktree}; git reset -q --hard origin/main; git clean -q -f -d",
    "nuke": "git worktree remove --force {worktree}; git branch -q -D bare/{name}",
}
"""What is left of each when nothing is checked, recorded or kept."""

Measured = Callable[[Callable[[], object]], float]


@dataclass(frozen=True, slots=True)
class Installed:
    """A checkout of LLMC, with a root of its own."""

    checkout: Path
    root: Path

    def run(self, *words: str) -> None:
        llmc = [sys.executable, "-P", "-m", "llmc.cli.main", "--root", str(self.root), *words]
        _run(llmc, self.root.parent, {**os.environ, "PYTHONPATH": str(self.checkout / "src")})

    def worktree(self, name: str) -> Path:
        return self.root / ".worktrees" / name

    def wait_for_review(self, name: str) -> None:
        """As if the agent had worked and the daemon had seen it. By the file: each checkout has code of its own."""
        file = self.root / "state.json"
        state = json.loads(file.read_bytes())
        head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=self.worktree(name), text=True).strip()
        state["workers"][name] |= {"work": "needs_review", "commit_sha": head}
        file.write_text(json.dumps(state))


@dataclass(slots=True)
class Rounds:
    source: Path
    bare: Path
    installed: tuple[Installed, ...]
    taken: dict[str, list[tuple[float, ...]]] = field(default_factory=dict)
    """For each command, what git and what each LLMC took."""
    commands: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """How often each of them ran git."""

    def count(self, number: int) -> None:
        """A round that is not timed: whoever runs git runs a small script first."""
        tally, before = self.bare / "tally", self.taken
        script = self.bare / "programs" / "git"
        script.parent.mkdir()
        script.write_text(f'#!/bin/sh\necho >>{tally}\nexec {shutil.which("git")} "$@"\n')
        script.chmod(0o700)
        self.taken = {}
        with patch.dict(os.environ, {"PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}"}):
            self.play(number, lambda action: _ran(action, tally))
        self.commands = {command: tuple(map(int, ran)) for command, (ran,) in self.taken.items()}
        self.taken = before

    def play(self, number: int, measured: Measured) -> None:
        name = f"worker{number}"
        self._each("add", name, measured)
        self._work(name, "first")
        for each in self.installed:
            each.wait_for_review(name)
        commit_file(self.source, f"upstream{number}.txt")
        self._each("rebase", name, measured)
        self._each("accept", name, measured)
        for command in ("reset", "nuke"):
            self._work(name, command)
            self._each(command, name, measured, "--yes")

    def _work(self, name: str, file: str) -> None:
        for worktree in (self.bare / name, *(each.worktree(name) for each in self.installed)):
            commit_file(worktree, f"{worktree.parent.parent.name}-{name}-{file}.txt")

    def _each(self, command: str, name: str, measured: Measured, *options: str) -> None:
        """In turns, each first as often as the others."""
        clone = self.bare / "clone"
        parts = {"name": name, "worktree": self.bare / name, "source": self.source, "clone": clone}
        script = ["sh", "-ec", SCRIPTS[command].format(**parts)]
        actions = [partial(_run, script, clone)]
        actions += [partial(each.run, command, name, *options) for each in self.installed]
        rows = self.taken.setdefault(command, [])
        turns = [(turn + len(rows)) % len(actions) for turn in range(len(actions))]
        took = {turn: measured(actions[turn]) for turn in turns}
        rows.append(tuple(took[turn] for turn in sorted(took)))


def measure(beside: Checkout | None = None, rounds: Mapping[int, int] = ROUNDS) -> list[Table]:
    return [table for files, often in rounds.items() for table in _tables(files, often, beside)]


def _tables(files: int, rounds: int, beside: Checkout | None) -> list[Table]:
    memory = IN_MEMORY if files >= MANY and IN_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="llmc-b-", dir=memory, ignore_cleanup_errors=True) as directory:
        place = Path(directory)
        with own_environment(place / "home"):
            played = _prepared(place, files, beside)
            for number in range(rounds):
                played.play(number, timed)
            played.count(rounds)
    title = f"{files} files{' in memory' if memory else ''}, {rounds} rounds"
    rows = _rows(played, 0, 1)
    tables = [Table(f"Commands against bare git, {title}", COLUMNS, rows, _verdicts(files, rows), NOTE)]
    if beside is not None:
        tables.append(Table(f"Commands beside those of {beside.name}, {title}", BESIDE_COLUMNS, _rows(played, 2, 1)))
    return tables


def _verdicts(files: int, rows: list[tuple[str | float, ...]]) -> tuple[Verdict, ...]:
    limits, why = LIMITS.get(files, {}), OVER.get(files, "")
    ratios = {str(row[0]): float(row[COLUMNS.index("x git")]) for row in rows}
    return tuple(Verdict(f"{name}, {files} files", ratios[name], limit, "x git", why) for name, limit in limits.items())


def _prepared(place: Path, files: int, beside: Checkout | None) -> Rounds:
    source = make_large_repository(place / "source", files)
    _run(["git", "reset", "-q", "--hard"], source)
    clone = place / "bare" / "clone"
    _run(["git", "clone", "-q", "--bare", "-c", f"remote.origin.fetch={TRACKED}", str(source), str(clone)], place)
    checkouts = (HERE, beside.path) if beside is not None else (HERE,)
    installed = tuple(Installed(each, place / f"llmc{number}") for number, each in enumerate(checkouts))
    for each in installed:
        compileall.compile_dir(each.checkout / "src", quiet=1)
        each.run("init", "--source", str(source), "--target", str(each.root), "--branch", "main")
    return Rounds(source, place / "bare", installed)


def _rows(played: Rounds, floor: int, other: int) -> list[tuple[str | float, ...]]:
    return [
        (*compared(f"llmc {command}", [(each[floor], each[other]) for each in taken]), ran[floor], ran[other])
        for command, taken in played.taken.items()
        for ran in [played.commands[command]]
    ]


def commit_file(worktree: Path, name: str) -> None:
    (worktree / name).write_text(f"{name}\n")
    _run(["git", "add", "--all"], worktree)
    _run(["git", "commit", "-q", "-m", f"Add {name}"], worktree)


def _ran(action: Callable[[], object], tally: Path) -> int:
    tally.write_text("")
    action()
    return len(tally.read_text().splitlines())


def _run(argv: list[str], cwd: Path, env: Mapping[str, str] | None = None) -> None:
    subprocess.run(argv, cwd=cwd, env=env, check=True, stdout=subprocess.DEVNULL)
