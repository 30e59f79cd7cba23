"""`llmc add`, `llmc rebase` and `llmc accept` against the git commands that they cannot avoid.

One worker passes through all three in each round, and so does a worktree of bare git in the same repositories.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.measure import spread
from bench.report import Table
from llmc.app import open_site
from llmc.model import State, Work
from llmc.root import Root
from testing.large import make_large_repository
from testing.roots import make_root, own_environment

FILES = 1000
COLUMNS = ("", "git ms", "± git", "llmc ms", "± llmc", "x git", "± x")
NOTE = (
    "llmc is a process of its own, from its start to its end: Python's start is in it, and so is what makes it safe:"
    " the record of each step before it is taken, the backup ref, the question whether the checkout can take the work."
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


@dataclass(slots=True)
class Rounds:
    source: Path
    root: Root
    bare: Path
    taken: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    """For each command, what git and what llmc took."""

    def play(self, number: int) -> None:
        name = f"worker{number}"
        self._both("add", name)
        for worktree in (self.bare / name, Path(self.root.worktree(name))):
            _commit(worktree, f"{worktree.parent.name}{number}.txt")
        self._wait_for_review(name)
        _commit(self.source, f"upstream{number}.txt")
        self._both("rebase", name)
        self._both("accept", name)

    def _both(self, command: str, name: str) -> None:
        parts = {"name": name, "worktree": self.bare / name, "source": self.source, "root": self.root.path}
        script = ["sh", "-ec", SCRIPTS[command].format(**parts)]
        llmc = [sys.executable, "-P", "-m", "llmc.cli.main", "--root", self.root.path, command, name]
        git, ours = _timed(lambda: _run(script, self.root.path)), _timed(lambda: _run(llmc, self.root.path))
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
                played.play(number)
    rows = [_row(command, taken) for command, taken in played.taken.items()]
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


def _run(argv: list[str], cwd: str) -> None:
    subprocess.run(argv, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
