"""A git that is ended in the middle of a landing: what it wrote is taken back, what the user made stays."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from llmc.git.failure import GitError
from llmc.git.land import land
from llmc.git.locks import SourceLockedError
from llmc.git.runner import Git
from llmc.git.take_back import MARK, HalfLandedError, settle_landing
from llmc.host.local import LocalHost
from testing.landing import BIG, KILLED, begin, stopping_git
from testing.waiting import wait_until

ADAM = "refs/heads/llmc/adam"


@pytest.fixture
def source(make_repo):
    """Files of every kind, each of which the work changes in one way or another."""
    repo = make_repo("source")
    for name in ("a-changed", "b-deleted", "dir/only", "m-big", "p-mode", "untouched", "was-file", "z-last"):
        repo.write(name, f"old {name}\n")
    repo.write("was-dir/inside", "old inside\n")
    repo.write("moved/from", "the same\n" * 10)
    repo.file("link").symlink_to("a-changed")
    repo.commit("first")
    return repo


@pytest.fixture
def work(worker):
    worker.write("a-changed", "new\n")
    worker.write("added/deep/er/file", "new file\n")
    worker.write("aa-added", "new\n")
    for name in ("b-deleted", "dir/only", "was-file", "was-dir/inside", "link"):
        worker.file(name).unlink()
    worker.file("was-dir").rmdir()
    worker.write("was-dir", "a file now\n")
    worker.write("was-file/inside", "a directory now\n")
    worker.file("link").symlink_to("z-last")
    worker.file("new-link").symlink_to("nowhere")
    worker.write("m-big", BIG)
    worker.file("p-mode").chmod(0o755)
    worker.file("moved/from").rename(worker.file("moved/to"))
    worker.write("z-last", "new\n")
    worker.commit("work")
    return worker


@pytest.fixture
def landing(git, source, root, work):
    return begin(git, source.path, root.path, "main", source.sha(), ADAM)


def merge(source, landing, git):
    return git.run(source.path, "merge", "--ff-only", "--quiet", landing.new, check=False, env={MARK: landing.id})


def forbid_moving(source):
    hook = source.write(".git/hooks/reference-transaction", "#!/bin/sh\n[ $1 != prepared ] || ! grep -q heads/main\n")
    hook.chmod(0o755)
    return hook


@pytest.fixture
def cut_short(source, landing, git, tmp_path, monkeypatch):
    """Ended by the kernel in the middle of `m-big`: some files are new, that one is half-written, the rest is old."""
    monkeypatch.setenv("PATH", f"{stopping_git(tmp_path / 'stopping')}{os.pathsep}{os.environ['PATH']}")
    done = merge(source, landing, git)
    monkeypatch.undo()
    assert done.code == -signal.SIGXFSZ
    written = source.file("m-big").read_text()
    assert BIG.startswith(written)
    assert 0 < len(written) < len(BIG)
    assert source.file("a-changed").read_text() == "new\n"
    assert source.file("z-last").read_text() == "old z-last\n"
    assert source.file(".git/index.lock").exists()
    return landing


@pytest.fixture
def files_and_index_new(source, landing, git):
    """A hook forbids git to move the branch, after it has brought everything else along."""
    hook = forbid_moving(source)
    assert not merge(source, landing, git).ok
    hook.unlink()
    assert source.run("diff-index", "--cached", "--name-only", landing.new) in ("", "untouched")
    return landing


def seen(repo):
    found = {}
    for folder, folders, names in os.walk(repo.path):
        folders[:] = [name for name in folders if name != ".git"]
        for name in (*names, *folders):
            path = Path(folder, name)
            content = b"" if path.is_dir() else os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            found[str(path.relative_to(repo.path))] = (oct(path.lstat().st_mode), content)
    return found, repo.run("ls-files", "--stage"), repo.run("for-each-ref", "refs/heads")


def locks(repo):
    return [str(path) for path in Path(repo.path, ".git").rglob("*.lock")]


def assert_taken_back(git, root, source, landing, left=()):
    settled = settle_landing(git, root.path, landing)
    assert (settled.landed, settled.left) == (False, tuple(left))
    assert locks(source) == []
    assert settle_landing(git, root.path, landing) == settled
    assert list(Path(root.path, "run").glob("landing-*")) == []


@pytest.mark.lesson(50, "a landing that is cut short is finished or taken back by whoever comes next")
@pytest.mark.parametrize("state", ["cut_short", "files_and_index_new"])
def test_every_kind_of_change_is_taken_back(git, root, source, landing, request, state):
    before = seen(source)
    request.getfixturevalue(state)
    assert_taken_back(git, root, source, landing)
    assert seen(source) == before
    assert source.status() == ""
    land(git, root.path, landing)
    assert source.sha() == landing.new
    assert source.status() == ""


@pytest.mark.lesson(50, "a landing that is cut short is finished or taken back by whoever comes next")
@pytest.mark.parametrize("state", ["cut_short", "files_and_index_new"])
def test_what_the_user_made_before_and_since_survives(git, root, source, landing, request, state):
    source.write("mine", "untracked\n")
    source.write("untouched", "staged\n")
    source.run("add", "untouched")
    source.write("untouched", "and more\n")
    request.getfixturevalue(state)
    source.write("aa-added", "edited since\n")
    source.write("a-changed", "edited since\n")
    source.write("added/deep/mine", "beside it\n")
    assert_taken_back(git, root, source, landing, ["aa-added", "a-changed"])
    assert [source.file(name).read_text() for name in ("aa-added", "a-changed")] == ["edited since\n"] * 2
    assert source.file("mine").read_text() == "untracked\n"
    assert source.file("untouched").read_text() == "and more\n"
    assert source.run("show", ":untouched") == "staged"
    assert source.file("added/deep/mine").read_text() == "beside it\n"
    assert not source.file("added/deep/er").exists()
    assert source.run("status", "--porcelain") == " M a-changed\nMM untouched\n?? aa-added\n?? added/\n?? mine"


def test_what_the_user_staged_since_stays_staged(git, root, source, files_and_index_new):
    source.write("z-last", "mine\n")
    source.run("add", "z-last")
    assert_taken_back(git, root, source, files_and_index_new, ["z-last"])
    assert source.run("status", "--porcelain") == "M  z-last"


@pytest.mark.lesson(26, "accepting never touches a person's uncommitted work")
def test_what_the_user_had_staged_is_theirs_even_if_it_is_the_same(git, root, source, work):
    source.write("z-last", "new\n")
    source.run("add", "z-last")
    landing = begin(git, source.path, root.path, "main", source.sha(), ADAM)
    assert landing.staged == ("z-last",)
    forbid_moving(source)
    with pytest.raises(GitError, match="hook"):
        land(git, root.path, landing)
    assert source.run("status", "--porcelain") == "M  z-last"


def test_commits_of_the_user_since_are_theirs(git, root, source, files_and_index_new):
    source.run("reset", "--quiet")
    source.run("add", "z-last")
    source.run("commit", "--quiet", "-m", "took it")
    assert_taken_back(git, root, source, files_and_index_new)
    assert source.file("z-last").read_text() == "new\n"
    assert source.status() == ""


def test_another_branch_that_was_checked_out_since_is_left_as_it_is(git, root, source, files_and_index_new):
    source.run("checkout", "--quiet", "-b", "idea")
    source.run("commit", "--quiet", "-m", "took all of it")
    before = seen(source)
    assert_taken_back(git, root, source, files_and_index_new)
    assert seen(source) == before


@pytest.mark.parametrize("name", ["HEAD", "ORIG_HEAD"])
def test_a_branch_that_has_moved_was_landed_though_git_left_a_lock(git, root, source, landing, name):
    merge(source, landing, git)
    source.write(f".git/{name}.lock", "")
    assert settle_landing(git, root.path, landing).landed
    assert locks(source) == []
    assert source.status() == ""


def test_symlinks_above_are_never_followed(git, root, source, files_and_index_new, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "deep/er").mkdir(parents=True)
    (elsewhere / "deep/er/file").write_text("new file\n")
    for folder in ("dir", "added"):
        subprocess.run(["rm", "-r", "-f", source.file(folder)], check=True)
        source.file(folder).symlink_to(elsewhere)
    assert_taken_back(git, root, source, files_and_index_new, ["dir/only"])
    assert (elsewhere / "deep/er/file").read_text() == "new file\n"
    assert not (elsewhere / "only").exists()


def test_a_linked_worktree_of_the_user(git, root, source, work, tmp_path, make_repo):
    source.run("checkout", "--quiet", "-b", "elsewhere")
    source.run("worktree", "add", "--quiet", str(tmp_path / "lin ked"), "main")
    linked = type(source)(str(tmp_path / "lin ked"), git)
    before = seen(linked)
    landing = begin(git, source.path, root.path, "main", source.sha("main"), ADAM)
    assert landing.checkout == linked.path
    source.write(".git/info/attributes", "m-big filter=stop\n")
    source.run("config", "filter.stop.smudge", KILLED)
    assert merge(linked, landing, git).code == -signal.SIGKILL
    source.run("config", "filter.stop.smudge", "cat")
    assert locks(source) != []
    assert_taken_back(git, root, source, landing)
    assert seen(linked) == before
    assert linked.status() == ""


def test_a_worktree_that_is_gone_needs_nothing(git, root, source, work, tmp_path):
    source.run("checkout", "--quiet", "-b", "elsewhere")
    source.run("worktree", "add", "--quiet", str(tmp_path / "linked"), "main")
    landing = begin(git, source.path, root.path, "main", source.sha("main"), ADAM)
    subprocess.run(["rm", "-r", tmp_path / "linked"], check=True)
    assert not settle_landing(git, root.path, landing).landed


@pytest.mark.parametrize("bare", [True, False])
def test_a_branch_that_is_not_checked_out_has_moved_or_not(git, root, source, work, make_repo, bare):
    if bare:
        repo = make_repo("bare.git", "--bare")
        repo.run("fetch", "--quiet", source.path, "main:main")
    else:
        repo = source
        repo.run("checkout", "--quiet", "-b", "elsewhere")
    landing = begin(git, repo.path, root.path, "main", source.sha("main"), ADAM)
    assert landing.checkout is None
    assert not settle_landing(git, root.path, landing).landed
    land(git, root.path, landing)
    assert settle_landing(git, root.path, landing).landed


def test_contents_are_compared_as_this_checkout_has_them(git, root, source, worker):
    source.run("config", "core.autocrlf", "true")
    source.run("config", "filter.upper.smudge", "tr a-z A-Z")
    source.run("config", "filter.upper.clean", "tr A-Z a-z")
    source.run("rm", "--quiet", "-r", "--cached", ".")
    source.run("reset", "--quiet", "--hard")
    worker.write(".gitattributes", "*-last filter=upper\nadded* filter=upper\n")
    worker.write("a-changed", "one\ntwo\n")
    worker.write("added", "one\ntwo\n")
    worker.write("z-last", "three\n")
    worker.commit("work")
    before = seen(source)
    landing = begin(git, source.path, root.path, "main", source.sha(), ADAM)
    forbid_moving(source)
    assert not merge(source, landing, git).ok
    assert source.file("added").read_bytes() == b"ONE\r\nTWO\r\n"
    assert source.file("z-last").read_bytes() == b"THREE\r\n"
    assert_taken_back(git, root, source, landing)
    assert seen(source) == before


def test_files_left_out_of_a_sparse_checkout_stay_out(git, root, source, landing):
    source.run("sparse-checkout", "set", "--no-cone", "/*", "!/z-last", "!/a-changed")
    before = seen(source)
    forbid_moving(source)
    assert not merge(source, landing, git).ok
    assert_taken_back(git, root, source, landing)
    assert seen(source) == before
    assert source.status() == ""


def test_commit_that_was_cleared_away_is_brought_again(git, root, source, cut_short):
    source.file(".git/index.lock").unlink()
    source.run("reflog", "expire", "--expire=now", "--all")
    source.run("gc", "--quiet", "--prune=now")
    source.file(".git/ORIG_HEAD").unlink(missing_ok=True)
    source.run("gc", "--quiet", "--prune=now")
    assert_taken_back(git, root, source, cut_short)
    assert source.status() == ""


# --- locks ------------------------------------------------------------------------------------------


def impatient():
    return Git(LocalHost(), patience=0.3)


def test_a_lock_that_somebody_has_open_is_waited_for_and_stays(root, source, cut_short):
    with open(source.file(".git/index.lock"), "ab"), pytest.raises(HalfLandedError, match="is at work"):
        settle_landing(impatient(), root.path, cut_short)
    assert source.file(".git/index.lock").exists()


def test_a_commit_of_the_user_whose_editor_is_open_keeps_its_lock(git, root, source, files_and_index_new, tmp_path):
    """Git has closed the lock file by then, and still needs it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    env = {**os.environ, "GIT_EDITOR": f"read line < {pipe}; echo mine >"}
    commit = subprocess.Popen(["git", "commit", "-a"], cwd=source.path, env=env, stdout=subprocess.DEVNULL)
    try:
        wait_until(source.file(".git/index.lock").exists)
        wait_until(source.file(".git/COMMIT_EDITMSG").exists)
        with pytest.raises(HalfLandedError, match=r"git commit.*is at work"):
            settle_landing(impatient(), root.path, files_and_index_new)
    finally:
        pipe.write_text("go on\n")
        commit.wait()
    assert source.run("log", "-1", "--format=%s") == "mine"
    assert_taken_back(git, root, source, files_and_index_new)
    assert source.status() == ""


def test_a_log_that_the_user_reads_keeps_nothing_waiting(git, root, source, landing, request, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    env = {**os.environ, "GIT_PAGER": f"read line < {pipe}; cat >/dev/null", "GIT_PAGER_IN_USE": "1"}
    reading = subprocess.Popen(["git", "-p", "log"], cwd=source.path, env=env, stdout=subprocess.DEVNULL)
    try:
        request.getfixturevalue("cut_short")
        assert_taken_back(impatient(), root, source, landing)
    finally:
        reading.kill()
        reading.wait()


def test_a_lock_of_the_index_does_not_matter_where_the_branch_is_not_checked_out(git, root, source, work):
    source.run("checkout", "--quiet", "-b", "elsewhere")
    landing = begin(git, source.path, root.path, "main", source.sha("main"), ADAM)
    lock = source.write(".git/index.lock", "")
    assert not settle_landing(impatient(), root.path, landing).landed
    assert lock.exists()


def test_a_lock_that_was_there_before_is_not_ours_to_remove(git, root, source, landing):
    lock = source.write(".git/index.lock", "")
    os.utime(lock, (time.time() - 3600,) * 2)
    with pytest.raises(SourceLockedError, match="LLMC did not make it") as caught:
        land(impatient(), root.path, landing)
    assert "doctor --repair" in caught.value.hint
    assert lock.exists()
    lock.unlink()
    assert source.status() == ""


def test_nothing_is_taken_back_beside_a_git_that_still_writes(git, root, source, landing, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    source.write(".git/info/attributes", "m-big filter=slow\n")
    source.run("config", "filter.slow.smudge", f"read line < {pipe}; cat")
    env = {**os.environ, MARK: landing.id}
    writing = subprocess.Popen(["git", "merge", "-q", "--ff-only", landing.new], cwd=source.path, env=env)
    try:
        wait_until(lambda: source.file("a-changed").read_text() == "new\n" if source.file("a-changed").exists() else 0)
        with pytest.raises(HalfLandedError, match="still lands it"):
            settle_landing(impatient(), root.path, landing)
    finally:
        pipe.write_text("go on\n")
        writing.wait()
    assert settle_landing(git, root.path, landing).landed
    assert source.status() == ""


def test_what_a_hook_leaves_running_is_not_waited_for(git, root, source, landing):
    hook = source.write(".git/hooks/post-merge", "#!/bin/sh\nsleep 60 >/dev/null 2>&1 &\necho $! > .git/pid\n")
    hook.chmod(0o755)
    merge(source, landing, git)
    try:
        assert settle_landing(replace(git, patience=0.3), root.path, landing).landed
    finally:
        os.kill(int(source.file(".git/pid").read_text()), signal.SIGKILL)
