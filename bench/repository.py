"""What LLMC costs in a repository of very many files: against git's own command for the same thing, in turns."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.measure import COLUMNS, Timing, program, take_turns
from bench.report import Table, Verdict
from llmc.app import open_site
from llmc.core.lifecycle.effects import ResetWorktree, to_step
from llmc.git.worktree import add_worktree, remove_worktree
from llmc.model import Work
from llmc.observe.branches import branch_events
from llmc.observe.conflict_forecast import Radar
from llmc.perform.branches import reset
from llmc.root import Root
from llmc.site import Site
from testing.large import make_large_repository
from testing.roots import add_worker, make_root

FILES = 50_000
LIMITS = {"notice a commit": 0.5, "radar, one worker": 2.0, "reset after accept": 2.0, "add": 1.5}
"""At most so many times what git's own command takes."""
CHANGED = "part0/module0/file0.txt"


def measure(files: int = FILES, rounds: int = 6) -> list[Table]:
    titles = (f"{title}, {files} files" for title in ("Looking", "Resetting", "Adding"))
    return [_table(title, timings) for title, timings in zip(titles, _timings(files, rounds), strict=True)]


def _table(title: str, timings: list[Timing]) -> Table:
    limited = [timing for timing in timings if timing.name in LIMITS]
    verdicts = tuple(Verdict(timing.name, timing.ratio, LIMITS[timing.name], "x git") for timing in limited)
    return Table(title, COLUMNS, [timing.row for timing in timings], verdicts)


def _timings(files: int, rounds: int) -> list[list[Timing]]:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        root = make_root(place / "llmc", make_large_repository(place / "source", files))
        add_worker(root, "adam", work=Work.WORKING)
        site = open_site(root)
        worktree = site.worker("adam").worktree_path
        Path(worktree, CHANGED).write_text("changed\n")
        return [
            _looking(site, worktree, rounds),
            _resetting(site, worktree, rounds),
            _adding(site, root, place, max(2, rounds // 3)),
        ]


def _looking(site: Site, worktree: str, rounds: int) -> list[Timing]:
    radar = Radar(site.root.radar_store("bench"))
    radar.look_at(site, ["adam"])
    try:
        actions: dict[str, Callable[[], object]] = {
            "git status": program("git", "-C", worktree, "status", "--porcelain", "--untracked-files=all"),
            "notice a commit": lambda: branch_events(site, site.worker("adam")),
            "radar, one worker": lambda: radar.look_at(site, ["adam"]),
            "radar, nobody changed": lambda: radar.look_at(site, []),
        }
        return take_turns(actions, floor="git status", rounds=rounds)
    finally:
        radar.close(site)


def _resetting(site: Site, worktree: str, rounds: int) -> list[Timing]:
    """After an accept the files are those of the branch already, but for one that a check left behind."""
    words = iter(itertools.count())
    plain_git = f"git -C '{worktree}' reset --quiet --hard origin/main && git -C '{worktree}' clean --quiet -fd"

    def dirty() -> None:
        Path(worktree, CHANGED).write_text(f"{next(words)}\n")

    def by_git() -> None:
        dirty()
        program("sh", "-c", plain_git)()

    def by_llmc() -> None:
        reset(site, site.worker("adam"), to_step(ResetWorktree(), "bench"))

    dirty()
    by_llmc()
    actions: dict[str, Callable[[], object]] = {"git reset, git clean": by_git, "reset after accept": by_llmc}
    return take_turns(actions, floor="git reset, git clean", rounds=rounds)


def _adding(site: Site, root: Root, place: Path, rounds: int) -> list[Timing]:
    names = (f"worker{number}" for number in itertools.count())

    def by_git() -> None:
        path = str(place / next(names))
        program("git", "-C", root.path, "worktree", "add", "--quiet", "--detach", path, "origin/main")()

    def by_llmc() -> None:
        name = next(names)
        add_worktree(site.git, root.path, name, f"llmc/{name}", "origin/main")

    actions: dict[str, Callable[[], object]] = {"git worktree add": by_git, "add": by_llmc}
    timings = take_turns(actions, floor="git worktree add", rounds=rounds)
    remove_worktree(site.git, root.path, "adam")
    return timings
