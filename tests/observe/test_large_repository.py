"""In a repository of very many files nothing looks at all of them, unless git itself has to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from llmc.app import open_site
from llmc.model import Work
from testing.large import make_large_repository
from testing.roots import add_worker, make_root
from testing.tracing import looks

LOOK = """
import sys
from llmc.app import open_site
from llmc.root import Root
site = open_site(Root(sys.argv[1]))
"""
NOTICE = f"""{LOOK}
from llmc.core.lifecycle.events import CommitSeen
from llmc.observe.branches import branch_events
(event,) = branch_events(site, site.worker("adam"))
assert isinstance(event, CommitSeen)
"""
RADAR = f"""{LOOK}
from llmc.observe.conflict_forecast import Radar
radar = Radar(site.root.radar_store("test"))
radar.look_at(site, ["adam"])
assert radar.document(site)["workers"]["adam"]["uncommitted"]
radar.look_at(site, [])
"""


def test_noticing_a_commit_and_the_status_look_at_no_file(tmp_path: Path) -> None:
    """The files are in git's index and nowhere else: whoever looked for them would be seen doing so."""
    root = make_root(tmp_path / "llmc", make_large_repository(tmp_path / "source", 50_000))
    git = open_site(root).git
    path = root.worktree("adam")
    git.run(root.path, "worktree", "add", "--quiet", "--no-checkout", "-b", "llmc/adam", path, "origin/main")
    git.run(path, "read-tree", "HEAD")
    add_worker(root, "adam", work=Work.WORKING)
    git.run(path, "commit", "--quiet", "--allow-empty", "-m", "Work")

    assert looks("part", sys.executable, "-c", NOTICE, root.path) == 0
    assert looks("part", sys.executable, "-m", "llmc.cli.main", "--root", root.path, "status") == 0


def test_the_radar_looks_as_often_as_git_status(tmp_path: Path) -> None:
    root = make_root(tmp_path / "llmc", make_large_repository(tmp_path / "source", 2_000))
    worktree = add_worker(root, "adam").worktree_path
    _let_settle(worktree)
    Path(worktree, "part0/module0/file0.txt").write_text("changed\n")
    floor = looks("part", "git", "-C", worktree, "status", "--porcelain", "--untracked-files=all")
    assert floor >= 2_000
    assert looks("part", sys.executable, "-c", RADAR, root.path) <= floor * 1.05


def _let_settle(worktree: str) -> None:
    """Git reads files again that are as new as its index; here they are older, as everywhere but in a test."""
    for path in Path(worktree).rglob("*.txt"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    subprocess.run(["git", "-C", worktree, "update-index", "-q", "--refresh"], check=True)
