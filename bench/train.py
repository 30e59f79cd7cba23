"""The merge train: its checks against the ideal of as many lanes, its stack against the bare calls of git."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import COLUMNS, take_turns
from bench.report import Table, Verdict
from llmc.app import open_site
from llmc.git.stack import FinishedWork, keep_stack, stack_works
from llmc.model import Turn, Work
from llmc.root import Root
from llmc.site import Site
from llmc.store.config_file import set_value
from testing.large import make_large_repository
from testing.roots import add_worker, make_repository, make_root, own_environment

WORKS = 20
CHECK_SECS = 4.0
LANES = 2
FILES = 50_000
MOST_OF_IDEAL = 1.3
MOST_OF_BARE = 3.0
WHO = "committer Tess Ter <tess@example.com> 1700000000 +0000\n"
CHECKED_NOTE = (
    "Every work is one commit in a worktree of its own; `llmc accept` with all of their names is one process, from its"
    " start to its end, with the two worktrees in which it checks made on the way. The ideal is the time of the checks"
    " alone, shared by two lanes without a gap. The bad one stands in the middle: its check fails twice, then once by"
    " itself, and the rest is stacked anew. One by one: a process of `llmc accept` for each."
)
STACKED_NOTE = (
    "Bare: one `merge-tree` and one `commit-tree` for each work, and nothing else. LLMC also finds out where each work"
    " begins, makes the message that it would land with, and keeps each commit by a ref."
)


def measure(works: int = WORKS, check_secs: float = CHECK_SECS, files: int = FILES, rounds: int = 10) -> list[Table]:
    return [_checked(works, check_secs), _stacked(works, files, rounds)]


def _checked(works: int, check_secs: float) -> Table:
    ideal = works * check_secs / LANES
    names = [f"w{number}" for number in range(works)]
    by_train = _timed(names, check_secs, [tuple(names)])
    one_bad = _timed(names, check_secs, [tuple(names)], bad=names[works // 2])
    singly = _timed(names, check_secs, [(name,) for name in names])
    rows = [
        (f"ideal of {LANES} lanes", ideal, 1.0),
        ("the train", by_train, by_train / ideal),
        (f"the train, one of them bad and {works - 1} land", one_bad, one_bad / ideal),
        ("one by one", singly, singly / ideal),
    ]
    verdict = Verdict(f"{works} works by the train", by_train / ideal, MOST_OF_IDEAL, "x the ideal")
    title = f"Landing {works} works with a check of {check_secs:g} s, validate_jobs = {LANES}"
    return Table(title, ("", "s", "x ideal"), rows, (verdict,), CHECKED_NOTE)


def _timed(names: list[str], check_secs: float, accepts: list[tuple[str, ...]], bad: str = "") -> float:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        with own_environment(place / "home"):
            root = make_root(place / "llmc", make_repository(place / "source"))
            set_value(root.config_file, "repo.validate", json.dumps([f"sleep {check_secs}; ! test -e bad.txt"]))
            set_value(root.config_file, "repo.validate_jobs", str(LANES))
            for name in names:
                _finished(root, name, "bad.txt" if name == bad else f"{name}.txt")
            began = time.perf_counter()
            for together in accepts:
                _llmc(root, "accept", *together, code=1 if bad in together else 0)
            took = time.perf_counter() - began
            assert _landed(place / "source") == [name for name in names if name != bad]
            return took


def _finished(root: Root, name: str, path: str) -> None:
    """A worker whose work waits for review, as if its agent had made it."""
    worker = add_worker(root, name)
    Path(worker.worktree_path, path).write_text("x\n")
    for words in (["add", "--all"], ["commit", "--quiet", "-m", f"Work of {name}"]):
        subprocess.run(["git", "-C", worker.worktree_path, *words], check=True)
    file = Path(root.path, "state.json")
    state = json.loads(file.read_bytes())
    head = subprocess.check_output(["git", "-C", worker.worktree_path, "rev-parse", "HEAD"], text=True).strip()
    state["workers"][name] |= {"work": Work.NEEDS_REVIEW.value, "commit_sha": head, "turn": Turn.OVER.value}
    file.write_text(json.dumps(state))


def _landed(source: Path) -> list[str]:
    """Whose works are on the branch, in their order."""
    subjects = _said(str(source), "log", "--reverse", "--format=%s").splitlines()
    return [each.removeprefix("Work of ") for each in subjects if each.startswith("Work of ")]


def _llmc(root: Root, *words: str, code: int = 0) -> None:
    argv = [sys.executable, "-P", "-m", "llmc.cli.main", "--root", root.path, *words]
    ended = subprocess.run(
        argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL if code else None, env=dict(os.environ)
    )
    assert ended.returncode == code, f"{words} ended with {ended.returncode}"


def _stacked(works: int, files: int, rounds: int) -> Table:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        with own_environment(place / "home"):
            site = open_site(make_root(place / "llmc", make_large_repository(place / "source", files)))
            finished = [_branch(site, number) for number in range(works)]
            timings = take_turns(_ways_to_stack(site, finished), floor="merge-tree, commit-tree", rounds=rounds)
    ratio = next(timing.ratio for timing in timings if timing.name == "llmc")
    verdict = Verdict(f"stacking {works} works", ratio, MOST_OF_BARE, "x git")
    title = f"Stacking {works} works, {files} files"
    return Table(title, COLUMNS, [timing.row for timing in timings], (verdict,), STACKED_NOTE)


def _branch(site: Site, number: int) -> FinishedWork:
    """A file changed and one added, each work in directories of its own; no worktree."""
    paths = (f"part0/module{number % 20}/file{number}.txt", f"part0/module{number % 20}/new{number}.txt")
    changes = "".join(f"M 100644 inline {path}\ndata 4\nnew\n\n" for path in paths)
    stream = f"commit refs/heads/llmc/w{number}\n{WHO}data 4\nWork\nfrom refs/remotes/origin/main^0\n{changes}"
    site.git.run(site.root.path, "fast-import", "--quiet", stdin=stream.encode())
    return FinishedWork(f"w{number}", site.git.text(site.root.path, "rev-parse", f"llmc/w{number}"), None)


def _ways_to_stack(site: Site, works: list[FinishedWork]) -> dict[str, Callable[[], object]]:
    root = site.root.path
    tip = site.git.text(root, "rev-parse", "origin/main")

    def bare() -> None:
        onto = tip
        for work in works:
            tree = _said(root, "merge-tree", "--write-tree", onto, work.head)
            onto = _said(root, "commit-tree", "-p", onto, "-m", "work", tree)

    def llmc() -> None:
        keep_stack(site.git, root, stack_works(site.git, root, tip, works))

    return {"merge-tree, commit-tree": bare, "llmc": llmc}


def _said(cwd: str, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()
