"""Works stacked in memory are what lands when each is accepted on top of the one before it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from llmc.app import open_site
from llmc.git.stack import REFS, FinishedWork, keep_stack, stack_works
from llmc.root import Root
from llmc.site import Site
from testing.roots import make_repository, make_root

HEAD = "committer Tess Ter <tess@example.com> 1700000000 +0000\n"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return open_site(made(tmp_path))


def made(place: Path) -> Root:
    return make_root(place / "llmc", make_repository(place / "source"))


def work(site: Site, name: str, files: dict[str, str], base: str = "origin/main") -> FinishedWork:
    """A branch of one commit, without a worktree."""
    changes = "".join(f"M 100644 inline {path}\ndata {len(text)}\n{text}\n" for path, text in files.items())
    words = f"Work of {name}"
    stream = f"commit refs/heads/llmc/{name}\n{HEAD}data {len(words)}\n{words}\nfrom {base}^0\n{changes}"
    site.git.run(site.root.path, "fast-import", "--quiet", "--force", stdin=stream.encode())
    (head,) = site.git.objects(site.root.path, f"refs/heads/llmc/{name}^{{commit}}")
    assert head is not None
    return FinishedWork(name, head, None)


def tip_of(site: Site) -> str:
    return site.git.text(site.root.path, "rev-parse", "origin/main")


def test_each_stands_on_the_one_before_it(site: Site) -> None:
    works = [work(site, name, {f"{name}.txt": "x\n"}) for name in ("adam", "baker", "carol")]
    stacked = stack_works(site.git, site.root.path, tip_of(site), works)
    last = stacked[-1].commit
    assert site.git.text(site.root.path, "log", "--format=%s %an", "-4", last).splitlines() == [
        *("Work of carol Tess Ter", "Work of baker Tess Ter", "Work of adam Tess Ter", "first Tess Ter"),
    ]
    listed = site.git.text(site.root.path, "ls-tree", "--name-only", stacked[1].tree).splitlines()
    assert listed == ["README", "adam.txt", "baker.txt"]
    keep_stack(site.git, site.root.path, stacked)
    assert site.git.text(site.root.path, "rev-parse", f"{REFS}baker") == stacked[1].commit


def test_what_conflicts_or_brings_nothing_is_left_out(site: Site) -> None:
    one, other = (work(site, name, {"same.txt": f"{name}\n"}) for name in ("adam", "baker"))
    nothing = FinishedWork("carol", tip_of(site), None)
    last = work(site, "dora", {"dora.txt": "x\n"})
    stacked = stack_works(site.git, site.root.path, tip_of(site), [one, other, nothing, last])
    assert [each.work.worker for each in stacked] == ["adam", "dora"]


def test_commits_that_the_user_took_out_of_the_branch_do_not_come_back(site: Site) -> None:
    """The work began on a commit that a rewritten branch no longer has."""
    dropped = work(site, "dropped", {"dropped.txt": "x\n"})
    mine = work(site, "adam", {"adam.txt": "x\n"}, "refs/heads/llmc/dropped")
    (stacked,) = stack_works(
        site.git, site.root.path, tip_of(site), [FinishedWork("adam", mine.head, dropped.head, "The task", "In words")]
    )
    assert site.git.text(site.root.path, "ls-tree", "--name-only", stacked.tree).splitlines() == ["README", "adam.txt"]
    assert site.git.text(site.root.path, "log", "-1", "--format=%s", stacked.commit) == "In words"


def test_a_work_costs_three_calls_of_git(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    works = [work(site, f"w{number}", {f"{number}.txt": "x\n"}) for number in range(20)]
    tip = tip_of(site)
    tally, program = tmp_path / "tally", tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >>{tally}\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    keep_stack(site.git, site.root.path, stack_works(site.git, site.root.path, tip, works))
    calls = tally.read_text().splitlines()
    assert sum("merge-tree" in call for call in calls) == 20
    assert len(calls) <= 3 * 20 + 2, calls
    assert not any("worktree" in call.split() or "status" in call.split() for call in calls)
