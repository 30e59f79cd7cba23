"""`llmc add`, `llmc rebase` and `llmc accept` against the git commands that they cannot avoid.

One worker passes through all three in each round, and so does a worktree of bare git in the same repositories.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

from bench.measure import spread
from bench.report import Table
from llmc.app import open_site
from llmc.model import State, Work
from llmc.root import Root
from testing.large import make_large_repository
from testing.roots import make_root, own_environment

FILES = 1000
COLUMNS = ("", "git ms", "± git", "llmc ms", "± llmc", "x git", "± x", "commands of git", "of llmc")
NOTE = (
    "git: nothing but the commands without which it cannot be done. llmc is a process of its own from its start to its"
    " end. The difference has two parts. Python and the modules of a command that changes something take their time,"
    " the same for each. And every name that it relies on is asked for just before, work is backed up before it"
    " moves, the checkout is asked whether it can take the work, and each step is on the disk before it is taken: each"
    " question is one more git command, which costs little in a large repository beside what git itself does there."
)
SCRIPTS = {
    "add": "git fetch -q origin; git worktree add -q -b bare/{name} {worktree} origin/main",
    "rebase": "git fetch -q origin; cd {worktree}; git rebase -q origin/main",
    "accept": """git fetch -q origin
        git -C {worktree} status --porcelain >{worktree}.status
        tree=$(git merge-tree --write-tree origin/main bare/{name})
        made=$(git commit-tree -p origin/main -m work "$tree")
        git update-ref refs/bare/{name} "$made"
        git -C {source} fetch -q {root}/.git refs/bare/{name}
        git -C {source} merge -q --ff-only "$made"
        git -C {worktree} reset -q --hard "$made" """,
}
"""What is left of each when nothing is checked, recorded or kept."""

Measured = Callable[[Callable[[], object]], float]


@dataclass(slots=True)
class Rounds:
    source: Path
    root: Root
    bare: Path
    taken: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    """For each command, what git and what llmc took."""
    commands: dict[str, tuple[int, int]] = field(default_factory=dict)
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
        self.commands = {command: (int(git), int(ours)) for command, ((git, ours),) in self.taken.items()}
        self.taken = before

    def play(self, number: int, measured: Measured) -> None:
        name = f"worker{number}"
        self._both("add", name, measured)
        for worktree in (self.bare / f"bare-{name}", Path(self.root.worktree(name))):
            _commit(worktree, f"{worktree.parent.name}{number}.txt")
        self._wait_for_review(name)
        _commit(self.source, f"upstream{number}.txt")
        self._both("rebase", name, measured)
        self._both("accept", name, measured)

    def _both(self, command: str, name: str, measured: Measured) -> None:
        parts = {"name": name, "worktree": self.bare / f"bare-{name}", "source": self.source, "root": self.root.path}
        script = ["sh", "-ec", SCRIPTS[command].format(**parts)]
        llmc = [sys.executable, "-P", "-m", "llmc.cli.main", "--root", self.root.path, command, name]
        git, ours = (measured(partial(_run, argv, self.root.path)) for argv in (script, llmc))
        self.taken.setdefault(command, []).append((git, ours))

    def _wait_for_review(self, name: str) -> None:
        """As if the agent had worked and the daemon had seen it."""
        site = open_site(self.root)
        commit = site.git.text(self.root.worktree(name), "rev-parse", "HEAD")

        def change(state: State) -> State:
            worker = replace(state.workers[name], work=Work.NEEDS_REVIEW, commit_sha=commit)
            return replace(state, workers={**state.workers, name: worker})

        site.ledger.state.transact(change)


def measure(files: int = FILES, rounds: int = 10) -> list[Table]:
    with tempfile.TemporaryDirectory(prefix="llmc-b-", ignore_cleanup_errors=True) as directory:
        place = Path(directory)
        with own_environment(place / "home"):
            source = make_large_repository(place / "source", files)
            _run(["git", "reset", "-q", "--hard"], str(source))
            played = Rounds(source, make_root(place / "llmc", source), place / "bare")
            for number in range(rounds):
                played.play(number, _timed)
            played.count(rounds)
    rows = [(*_row(command, taken), *played.commands[command]) for command, taken in played.taken.items()]
    return [Table(f"Commands against bare git, {files} files, {rounds} rounds", COLUMNS, rows, note=NOTE)]


def _row(command: str, taken: list[tuple[float, float]]) -> tuple[str | float, ...]:
    git, ours = (spread([each[n] * 1000 for each in taken]) for n in (0, 1))
    ratio = spread([ours / git for git, ours in taken])
    return f"llmc {command}", git.median, git.between, ours.median, ours.between, ratio.median, ratio.between


def _commit(worktree: Path, name: str) -> None:
    (worktree / name).write_text(f"{name}\n")
    _run(["git", "add", "--all"], str(worktree))
    _run(["git", "commit", "-q", "-m", f"Add {name}"], str(worktree))


def _timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _ran(action: Callable[[], object], tally: Path) -> int:
    tally.write_text("")
    action()
    return len(tally.read_text().splitlines())


def _run(argv: list[str], cwd: str) -> None:
    subprocess.run(argv, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
