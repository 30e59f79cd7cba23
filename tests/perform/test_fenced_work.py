"""What is done behind a fence and what LLMC does to it meet in the clone: nothing is lost, nothing counts twice."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.git.backup import list_backups
from llmc.host.processes import is_running, name_of
from llmc.model import Session, Work
from llmc.perform.fence import fenced_command, has_store
from llmc.perform.fenced_work import take_over
from testing.story import Story, script, told_in


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    """`adam` works behind the fence."""
    with told_in(tmp_path) as story:
        yield story.begin("adam", sandbox__mode="bwrap")


def inside(story: Story, *words: str, check: bool = True) -> str:
    """What adam's agent would get from this command."""
    site, worker = story.site, story.worker("adam")
    marks = {"LLMC_ROOT": story.root.path, "LLMC_WORKER": "adam", "GIT_AUTHOR_NAME": "A", "GIT_COMMITTER_NAME": "A"}
    marks |= {"GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_EMAIL": "a@example.com"}
    argv = fenced_command(site, worker.name, words, marks)
    done = site.host.run(argv, env=site.host.environ())
    assert done.ok or not check, done.complaint
    return done.text.strip()


def test_from_a_task_to_a_commit_that_lands(story: Story) -> None:
    story.llmc("config", "set", "repo.validate", json.dumps(["test -e work.txt && test ! -e $LLMC_HIDDEN/README"]))
    story.llmc("config", "set", "repo.env", '{ LLMC_X = "" }'.replace("LLMC_X", "HIDDEN"))
    story.llmc(
        "config", "set", "repo.validate", json.dumps([f"test -e work.txt && test ! -e {story.repository}/README"])
    )
    story.llmc("config", "set", "repo.setup", json.dumps([f"test ! -e {story.repository}/README && touch set-up.log"]))
    story.up()
    story.work("adam", "write work.txt x", "commit Work")
    story.llmc("accept", "adam")
    assert story.subjects()[-1] == "Work"
    assert story.wait("adam", Work.IDLE).commit_sha is None
    story.work("adam", "write more.txt x", "commit More")
    assert inside(story, "git", "log", "-1", "--format=%s") == "More"
    assert inside(story, "git", "rev-parse", "origin/main") == story.git("rev-parse", "main")


def test_work_is_rebased_reset_and_brought_back(story: Story) -> None:
    story.up()
    story.work("adam", "write work.txt x", "commit Work")
    story.commit_upstream("other.txt", "x\n", "Meanwhile")
    story.until(lambda: story.git("log", "-2", "--format=%s", "llmc/adam", cwd=story.root.path) == "Work\nMeanwhile")
    story.until(lambda: inside(story, "git", "log", "-2", "--format=%s") == "Work\nMeanwhile")
    Path(story.root.worktree("adam"), "untracked.txt").write_text("kept\n")
    inside(story, "sh", "-c", "echo staged > staged.txt && git add staged.txt")
    story.llmc("reset", "adam", "--yes")
    assert inside(story, "git", "status", "--porcelain") == ""
    assert inside(story, "git", "rev-parse", "HEAD") == story.git("rev-parse", "main")
    story.llmc("undo", "adam", "--yes")
    assert inside(story, "git", "log", "-1", "--format=%s") == "Work"
    assert inside(story, "git", "status", "--porcelain").splitlines() == ["A  staged.txt", "?? untracked.txt"]
    story.llmc("nuke", "adam", "--yes")
    kept = list_backups(story.site.git, story.root.path, "adam")[0]
    assert story.git("show", f"{kept.ref}:staged.txt", cwd=story.root.path) == "staged"
    assert not Path(story.root.fence("adam")).exists()


def test_conflicts_are_resolved_inside(story: Story) -> None:
    story.llmc("config", "set", "policy.autonomy", "auto")
    story.up()
    story.work("adam", "write README ours", "commit Ours")
    story.commit_upstream("README", "theirs\n", "Theirs")
    story.until(lambda: story.events("adam", "git.resolution"))
    worker = story.wait("adam", Work.NEEDS_REVIEW)
    assert worker.commit_sha == inside(story, "git", "rev-parse", "HEAD")
    assert not story.events("adam", "git.aborted")
    story.llmc("accept", "adam")
    assert story.subjects()[-2:] == ["Theirs", "Ours"]


def test_a_fence_is_put_up_and_taken_down_around_a_worker_with_work(story: Story) -> None:
    story.llmc("config", "set", "workers.adam.sandbox", "off")
    story.up()
    story.work("adam", "write one.txt x", "commit One")
    for mode, program in (("bwrap", "bwrap"), ("off", "python")):
        story.llmc("config", "set", "workers.adam.sandbox", mode)
        story.llmc("restart", "adam")
        assert name_of(story.pane("adam").pid).startswith(program)
        assert has_store(story.site, story.worker("adam")) is (mode == "bwrap")
        story.llmc("reject", "adam", script(f"write {mode}.txt x", f"commit {mode}"))
        story.until(lambda mode=mode: story.git("log", "-1", "--format=%s", "llmc/adam", cwd=story.root.path) == mode)
        story.wait("adam", Work.NEEDS_REVIEW)
    story.llmc("accept", "adam")
    assert sorted(story.git("ls-tree", "--name-only", "main").split()) == ["README", "bwrap.txt", "off.txt", "one.txt"]


def test_commits_of_both_sides_are_kept(story: Story) -> None:
    site = story.site
    inside(story, "sh", "-c", "echo x > x && git add x && git commit -qm Inside")
    with site.lock_of("adam"):
        take_over(site, story.worker("adam"))
    first = story.git("rev-parse", "llmc/adam", cwd=story.root.path)
    assert first == inside(story, "git", "rev-parse", "HEAD")
    inside(story, "git", "commit", "-q", "--allow-empty", "-m", "Late")
    late = inside(story, "git", "rev-parse", "HEAD")
    story.git("update-ref", "refs/heads/llmc/adam", f"{first}~1", cwd=story.root.path)
    with site.lock_of("adam"):
        take_over(site, story.worker("adam"))
    assert inside(story, "git", "rev-parse", "HEAD") == story.git("rev-parse", f"{first}~1", cwd=story.root.path)
    assert late in [each.head_sha for each in list_backups(site.git, story.root.path, "adam")]


def test_nobody_moves_a_branch_that_is_not_theirs(story: Story) -> None:
    story.llmc("add", "baker", "--agent", "demo")
    before = story.git("rev-parse", "llmc/baker", cwd=story.root.path)
    inside(story, "git", "commit", "-q", "--allow-empty", "-m", "Mine")
    for ref in ("refs/heads/llmc/baker", "refs/heads/feature", "refs/llmc/backup/baker/1", "refs/remotes/origin/x"):
        inside(story, "git", "update-ref", ref, "HEAD")
    with story.site.lock_of("adam"):
        take_over(story.site, story.worker("adam"))
    refs = story.git("for-each-ref", "--format=%(refname)", cwd=story.root.path).split()
    assert story.git("rev-parse", "llmc/baker", cwd=story.root.path) == before
    assert {"refs/llmc/backup/baker/1", "refs/remotes/origin/x"}.isdisjoint(refs)
    assert "refs/heads/feature" in refs


@pytest.mark.parametrize(
    "trick",
    [
        "rm -rf $G/refs/heads/llmc && ln -s $SOURCE/.git/refs/heads $G/refs/heads/llmc",
        "rm $G/refs/heads/llmc/adam && mkfifo $G/refs/heads/llmc/adam",
        "git config core.fsmonitor 'touch /tmp/ran; false' && git config core.hooksPath /tmp",
        "echo broken > $G/config",
        "rm -rf $G/objects/pack && ln -s $SOURCE/.git/objects/pack $G/objects/pack",
        "for i in 1 2; do mkfifo $G/objects/pack/pack-$i.idx $G/objects/pack/pack-$i.pack; done",
        "printf 'x' > $G/packed-refs; printf garbage > $G/refs/heads/llmc/adam",
        "mv $G/worktrees $G/moved && ln -s $SOURCE/.git $G/worktrees",
    ],
)
def test_what_is_left_for_llmc_harms_nobody(story: Story, trick: str) -> None:
    """Whatever becomes of the worker's own branch: LLMC neither hangs nor writes elsewhere, and a reset is possible."""
    before = story.git("for-each-ref", "--format=%(refname) %(objectname)")
    places = f"G={story.root.git_dir}; SOURCE={story.repository}; "
    inside(story, "sh", "-c", places + trick, check=False)
    assert "adam" in story.llmc("status").out
    story.try_llmc("reset", "adam", "--yes")
    assert story.git("for-each-ref", "--format=%(refname) %(objectname)") == before
    assert story.git("status", "--porcelain") == ""


INDEX = """
import hashlib, os, struct, subprocess, sys
blob = bytes.fromhex(subprocess.check_output(["git", "rev-parse", "HEAD:README"], text=True))
def entry(path):
    made = struct.pack(">10I", 1, 0, 1, 0, 0, 0, 0o100644, 0, 0, 1) + blob + struct.pack(">H", len(path)) + path
    return made + bytes(8 - len(made) % 8)
body = struct.pack(">4sII", b"DIRC", 2, 2) + entry(os.fsencode(sys.argv[2])) + entry(b"README")
open(sys.argv[1], "wb").write(body + hashlib.sha1(body).digest())
"""


def test_llmcs_own_git_does_not_leave_the_clone(story: Story) -> None:
    """What the agent leaves in the record of its worktree leads that git nowhere, and keeps nobody waiting."""
    key = story.place / "key"
    key.write_text("a key of the person's\n")
    outside = os.path.relpath(key, story.root.worktree("adam"))
    record = f"{story.root.git_dir}/worktrees/adam"
    for trick in (
        shlex.join([sys.executable, "-c", INDEX, f"{record}/index", outside]),
        f"rm -f {record}/logs/HEAD && ln -s {key} {record}/logs/HEAD",
        f"rm {record}/index && ln -s {key} {record}/index",
        f"rm {record}/HEAD && mkfifo {record}/HEAD",
        f"truncate -s 1T {record}/index",
        f"mkdir {record}/rebase-merge && mkfifo {record}/rebase-merge/head-name",
    ):
        inside(story, "sh", "-c", trick)
        assert "adam" in story.llmc("status").out
        story.llmc("reset", "adam", "--yes")
        assert key.read_text() == "a key of the person's\n"
        assert inside(story, "git", "status", "--porcelain") == ""
    blob = story.git("hash-object", str(key))
    assert story.git("cat-file", "--batch-all-objects", "--batch-check", cwd=story.root.path).find(blob) == -1


def test_nothing_outlives_down(story: Story) -> None:
    story.up()
    story.llmc("add", "sh", "--agent", "shell")
    story.wait("sh", session=Session.UP)
    story.llmc("message", "sh", "(setsid -f env -i sleep 987654 &); echo begun > begun.txt")
    story.until(Path(story.root.worktree("sh"), "begun.txt").exists)
    assert _sleeping()
    story.llmc("down", "--force")
    story.until(lambda: not _sleeping())


def _sleeping() -> list[int]:
    listed = subprocess.run(["pgrep", "-f", "^sleep 987654"], capture_output=True, text=True, check=False)
    return [int(pid) for pid in listed.stdout.split() if is_running(int(pid))]


def test_without_bubblewrap_nothing_is_started(story: Story, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for program in ("git", "tmux", "sh", "bash", "env", "ps"):
        (tmp_path / "bin" / program).symlink_to(f"/usr/bin/{program}")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    assert "bubblewrap is not installed" in story.llmc("add", "baker", "--sandbox", "bwrap", code=1).err
    assert "baker" not in story.site.ledger.load().workers
    assert "fence-impossible" in story.try_llmc("doctor").out
    story.try_llmc("restart", "adam")
    assert story.worker("adam").session is not Session.UP
    story.llmc("add", "charlie", "--agent", "demo", "--sandbox", "off")
