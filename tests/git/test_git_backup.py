from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from llmc.git.backup import BackupError, backup_branch, expire_backups, list_backups, make_backup, restore_backup
from llmc.git.backup_record import Backup, expired, message_of, read_backup, ref_name
from llmc.git.clone import ensure_view
from llmc.git.rebase import rebase_in_progress, rebase_onto
from llmc.git.repository import branch_tip, current_branch
from llmc.git.worktree import add_worktree, delete_branch, remove_worktree, reset_in_place

NOON = 1_700_000_000.25


def picture(repo):
    """Every file with kind, mode and bytes, the index with its stages, HEAD, and what git thinks of it all."""
    files = {}
    for path in sorted(Path(repo.path).rglob("*")):
        name = str(path.relative_to(repo.path))
        if name == ".git" or name.startswith(".git/") or (path.is_dir() and not path.is_symlink()):
            continue
        link = path.is_symlink()
        files[name] = ("link", os.readlink(path)) if link else (_executable(path), path.read_bytes())
    return {
        "files": files,
        "index": repo.run("ls-files", "--stage", "-z"),
        "head": (repo.sha(), current_branch(repo.git, repo.path)),
        "status": repo.run("status", "--porcelain=v2", "-z", "--branch"),
    }


def _executable(path):
    return bool(path.stat().st_mode & stat.S_IXUSR)


def forget_the_past(root):
    """Leaves only what is reachable from a ref."""
    root.run("reflog", "expire", "--expire=now", "--all")
    root.run("gc", "--quiet", "--prune=now")


def make_a_mess(repo):
    """Every sort of change that a worktree can have."""
    for name in ("deleted", "removed", "mode", "both", "becomes-link", "becomes-dir"):
        repo.write(name, f"{name}\n")
    repo.commit("before the mess")
    repo.file("deleted").unlink()
    repo.run("rm", "--quiet", "removed")
    repo.file("mode").chmod(0o755)
    repo.write("both", "staged\n")
    repo.run("add", "both")
    repo.write("both", "staged, then modified\n")
    repo.file("becomes-link").unlink()
    repo.file("becomes-link").symlink_to("README")
    repo.file("becomes-dir").unlink()
    repo.write("becomes-dir/file", "x\n")
    repo.write("staged new", "s\n")
    repo.run("add", "staged new")
    repo.write("staged, then gone", "g\n")
    repo.run("add", "staged, then gone")
    repo.file("staged, then gone").unlink()
    repo.write("binary", bytes(range(256)) * 3)
    repo.write("deep/er/un tracked", "crlf\r\nno newline at end")
    repo.write("executable", "#!/bin/sh\n").chmod(0o755)
    repo.file("dangling").symlink_to("no/where")
    for name in ("new\nline", "ümläut ☃", "-dash", ":(exclude)magic", 'quo"te\\', "*star", "empty"):
        repo.write(name, "" if name == "empty" else name)


@pytest.mark.lesson(28, "whatever drops work keeps a backup first")
def test_a_mess_comes_back_exactly(git, root, worker, source):
    make_a_mess(worker)
    before = picture(worker)
    backup = make_backup(git, worker.path, "adam", NOON, reason="before a reset")
    assert picture(worker) == before
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    assert sorted(os.listdir(worker.path)) == [".git", "README"]
    restore_backup(git, worker.path, backup)
    assert picture(worker) == before


@pytest.mark.lesson(47, "a backup is read back from where the promise says it is before anything goes")
def test_a_backup_that_lost_a_file_on_its_way_is_none(git, root, worker, tmp_path, monkeypatch):
    """As by a `git gc --prune=now` of another agent: until a ref names them, its objects belong to nobody."""
    worker.write("dirty", "dirty\n")
    blob = worker.run("hash-object", "dirty")
    loose = Path(root.path, ".git/objects", blob[:2], blob[2:])
    script = tmp_path / "bin" / "git"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\ncase "$*" in *commit-tree*) rm -f {loose};; esac\nexec {shutil.which("git")} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(BackupError, match="is not complete"):
        make_backup(git, worker.path, "adam", NOON)


def test_taking_a_backup_touches_nothing(git, root, worker):
    make_a_mess(worker)
    gitdir = Path(root.path, ".git/worktrees/adam")
    worker.run("status")
    index, names = (gitdir / "index").read_bytes(), sorted(os.listdir(gitdir))
    times = {path: path.lstat().st_mtime_ns for path in Path(worker.path).rglob("*")}
    make_backup(git, worker.path, "adam", NOON)
    assert (gitdir / "index").read_bytes() == index
    assert sorted(os.listdir(gitdir)) == names
    assert {path: path.lstat().st_mtime_ns for path in Path(worker.path).rglob("*")} == times


def test_backup_tells_what_it_keeps(git, root, worker):
    worker.write("dirty\nname")
    worker.write("README", "changed\n")
    backup = make_backup(git, worker.path, "adam", NOON, reason="before a nuke")
    assert backup.ref == "refs/llmc/backup/adam/20231114T221320Z-1"
    assert (backup.worker, backup.reason, backup.at_unix) == ("adam", "before a nuke", NOON)
    assert (backup.head_sha, backup.branch, backup.on_branch) == (worker.sha(), "llmc/adam", "llmc/adam")
    assert sorted(backup.dirty) == ["README", "dirty\nname"]
    assert list_backups(git, root.path) == (backup,)
    message = root.run("log", "-1", "--format=%B", backup.ref)
    assert message.startswith("LLMC backup of adam: before a nuke\n\nllmc/adam at ")


def test_ignored_files_are_neither_kept_nor_removed(git, root, worker, source):
    root.write("run/git/info/exclude", "*.log\n")
    worker.write("debug.log", "noise")
    worker.write("note", "x")
    backup = make_backup(git, worker.path, "adam", NOON)
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    restore_backup(git, worker.path, backup)
    assert backup.dirty == ("note",)
    assert worker.file("debug.log").read_text() == "noise"


def test_commits_come_back(git, worker, source):
    head = worker.commit_file("new", "x\n")
    backup = make_backup(git, worker.path, "adam", NOON, safe_sha=source.sha())
    assert not backup.has_files
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    restore_backup(git, worker.path, backup)
    assert (worker.sha("llmc/adam"), worker.status()) == (head, "")


def test_nothing_to_lose_needs_no_backup(git, root, worker, source):
    assert make_backup(git, worker.path, "adam", NOON, safe_sha=source.sha()) is None
    assert list_backups(git, root.path) == ()
    assert make_backup(git, worker.path, "adam", NOON) is not None


@pytest.mark.parametrize("change", ["commit", "untracked", "staged", "other branch", "detached"])
def test_anything_to_lose_needs_one(git, worker, source, change):
    if change == "untracked":
        worker.write("new")
    elif change == "staged":
        worker.write("new")
        worker.run("add", "new")
        worker.file("new").unlink()
    else:
        worker.commit_file("new", "x")
    if change == "other branch":
        worker.run("checkout", "--quiet", "-b", "idea", source.sha())
    if change == "detached":
        worker.run("checkout", "--quiet", "--detach", source.sha())
    assert make_backup(git, worker.path, "adam", NOON, safe_sha=source.sha()) is not None


def test_backups_of_the_same_second_do_not_overwrite(git, root, worker):
    worker.write("a")
    first = make_backup(git, worker.path, "adam", NOON)
    worker.write("b")
    second = make_backup(git, worker.path, "adam", NOON)
    assert [first.ref[-2:], second.ref[-2:]] == ["-1", "-2"]
    assert list_backups(git, root.path, "adam") == (second, first)


def test_backup_in_the_middle_of_a_rebase(git, root, worker, source):
    worker.commit_file("README", "worker\n", "one")
    worker.commit_file("other", "worker\n", "two")
    tip = worker.sha()
    source.commit_file("README", "upstream\n")
    root.run("fetch", "--quiet")
    rebase_onto(git, worker.path, "origin/main")
    worker.write("README", "half resolved\n<<<<<<<\n")
    worker.write("untracked", b"\0\1")
    before, progress = picture(worker), rebase_in_progress(git, worker.path)
    backup = make_backup(git, worker.path, "adam", NOON, safe_sha=source.sha())
    assert picture(worker) == before
    assert (backup.on_branch, backup.branch, backup.branch_sha) == (None, "llmc/adam", tip)

    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    forget_the_past(root)
    restore_backup(git, worker.path, backup)

    assert picture(worker) == before
    assert rebase_in_progress(git, worker.path) == progress
    worker.write("README", "resolved\n")
    worker.run("add", "README")
    worker.file("untracked").unlink()
    worker.go_on_rebasing()
    assert worker.run("log", "--format=%s", "origin/main..llmc/adam").split() == ["two", "one"]


def test_backup_in_the_middle_of_a_merge(git, root, worker, source):
    worker.commit_file("README", "worker\n")
    source.commit_file("README", "upstream\n")
    root.run("fetch", "--quiet")
    assert git.run(worker.path, "merge", "origin/main", check=False).code == 1
    before = picture(worker)
    backup = make_backup(git, worker.path, "adam", NOON)
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    restore_backup(git, worker.path, backup)
    assert picture(worker) == before
    worker.write("README", "both\n")
    worker.commit("merged")
    assert worker.sha("HEAD^2") == source.sha()


def test_detached_head_comes_back_detached_and_keeps_the_branch(git, root, worker, source):
    tip = worker.commit_file("on-branch", "x\n")
    worker.run("checkout", "--quiet", "--detach", source.sha())
    worker.commit_file("detached", "x\n")
    worker.write("dirty")
    before = picture(worker)
    backup = make_backup(git, worker.path, "adam", NOON)
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    restore_backup(git, worker.path, backup)
    assert picture(worker) == before
    assert branch_tip(git, root.path, "llmc/adam") == tip


def test_commits_that_only_the_branch_has_are_kept(git, root, worker, source):
    tip = worker.commit_file("on-branch", "x\n")
    worker.run("checkout", "--quiet", "--detach", source.sha())
    backup = make_backup(git, worker.path, "adam", NOON, safe_sha=source.sha())
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    forget_the_past(root)
    restore_backup(git, worker.path, backup)
    assert branch_tip(git, root.path, "llmc/adam") == tip


def test_other_branch_comes_back(git, root, worker, source):
    worker.run("checkout", "--quiet", "-b", "idea")
    worker.commit_file("idea", "x\n")
    before = picture(worker)
    backup = make_backup(git, worker.path, "adam", NOON)
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    delete_branch(git, root.path, "idea")
    restore_backup(git, worker.path, backup)
    assert picture(worker) == before


def test_other_branch_that_went_on_keeps_its_commits(git, root, worker, source):
    worker.run("checkout", "--quiet", "-b", "idea")
    kept = worker.commit_file("idea", "x\n")
    backup = make_backup(git, worker.path, "adam", NOON)
    later = worker.commit_file("later", "x\n")
    restore_backup(git, worker.path, backup)
    assert (branch_tip(git, root.path, "idea"), worker.sha()) == (later, kept)


def test_repository_inside_is_left_out_and_told(git, worker):
    worker.run("init", "--quiet", "inner")
    worker.write("inner/file")
    worker.write("note")
    backup = make_backup(git, worker.path, "adam", NOON)
    assert (backup.dirty, backup.left_out) == (("note",), ("inner/",))


def test_changes_inside_of_a_submodule_are_told(git, worker, make_repo):
    inner = make_repo("inner")
    inner.commit("start")
    worker.run("clone", "--quiet", inner.path, "sub")
    worker.commit("with a submodule")
    worker.write("sub/new")
    backup = make_backup(git, worker.path, "adam", NOON)
    assert (backup.dirty, backup.left_out) == (("sub",), ("sub",))


def test_backup_needs_no_configured_user(git, worker, monkeypatch, tmp_path):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    worker.write("note")
    assert make_backup(git, worker.path, "adam", NOON).dirty == ("note",)


def set_by_the_person(git, source, root, **settings):
    """For the user's repository, and so for the clone and LLMC's view of it."""
    for name, value in settings.items():
        source.run("config", f"core.{name}", value)
        root.run("config", f"core.{name}", value)
    ensure_view(git, source.path, root.path, "main")


def test_backup_works_where_strict_line_ends_would_refuse(git, root, worker, source):
    set_by_the_person(git, source, root, autocrlf="input", safecrlf="true")
    worker.write("windows", "a\r\n")
    backup = make_backup(git, worker.path, "adam", NOON)
    reset_in_place(git, worker.path, "llmc/adam", source.sha())
    restore_backup(git, worker.path, backup)
    assert worker.file("windows").read_bytes() == b"a\r\n"


def test_windows_line_ends_of_a_checkout_come_back(git, root, source):
    set_by_the_person(git, source, root, autocrlf="true")
    worker = root.worker("baker")
    assert worker.file("README").read_bytes() == b"one\r\ntwo\r\nthree\r\n"
    worker.write("mixed", "a\r\nb\n")
    before = picture(worker)
    backup = make_backup(git, worker.path, "baker", NOON)
    reset_in_place(git, worker.path, "llmc/baker", source.sha())
    restore_backup(git, worker.path, backup)
    assert picture(worker) == before


def test_nuked_worker_comes_back(git, root, worker, source):
    make_a_mess(worker)
    before = picture(worker)
    backup = make_backup(git, worker.path, "adam", NOON)
    remove_worktree(git, root.path, "adam")
    delete_branch(git, root.path, "llmc/adam")
    add_worktree(git, root.path, "adam", "llmc/adam", source.sha())
    restore_backup(git, worker.path, backup)
    assert picture(worker) == before


def test_branch_of_a_vanished_worktree_is_kept(git, root, worker, source):
    head = worker.commit_file("new", "x\n")
    remove_worktree(git, root.path, "adam")
    backup = backup_branch(git, root.path, "adam", NOON, "llmc/adam", "before a nuke")
    delete_branch(git, root.path, "llmc/adam")
    add_worktree(git, root.path, "adam", "llmc/adam", source.sha())
    restore_backup(git, worker.path, backup)
    assert worker.sha("llmc/adam") == head
    assert backup_branch(git, root.path, "eve", NOON, "llmc/eve") is None


def test_backups_of_one_worker_or_of_all(git, root, worker):
    other = root.worker("baker")
    mine = make_backup(git, worker.path, "adam", NOON)
    theirs = make_backup(git, other.path, "baker", NOON + 60)
    root.run("update-ref", "refs/llmc/backup/adam/not-ours", worker.sha())
    assert list_backups(git, root.path) == (theirs, mine)
    assert list_backups(git, root.path, "adam") == (mine,)
    assert list_backups(git, root.path, "ada") == ()


def test_old_backups_expire_but_the_newest_stay(git, root, worker):
    day = 86400
    made = [make_backup(git, worker.path, "adam", NOON + number * day) for number in range(4)]
    gone = expire_backups(git, root.path, keep_days=1.5, keep_count=1, now=NOON + 3 * day)
    assert set(gone) == set(made[:2])
    assert list_backups(git, root.path) == (made[3], made[2])
    assert expire_backups(git, root.path, keep_days=0, keep_count=2, now=NOON + 9 * day) == ()


def plain(worker, at_unix):
    return Backup(ref_name(worker, at_unix, 1), "1", worker, at_unix, "", "2", None, f"llmc/{worker}", "2")


def test_every_worker_keeps_its_own_newest():
    old, older, other = plain("adam", 2.0), plain("adam", 1.0), plain("baker", 1.5)
    assert expired((older, old, other), keep_days=0, keep_count=1, now=1e9) == (older,)


def test_record_survives_difficult_text():
    backup = Backup("r", "s", "adam", 1.5, "two\nlines", "h" * 40, None, "llmc/adam", "b", ("a\nb", "\udcff", "ü"))
    assert read_backup("r", "s", message_of(backup)) == backup


@pytest.mark.parametrize("message", ["", "anything", "Llmc-Backup: {", "Llmc-Backup: {}", "Llmc-Backup: []"])
def test_other_messages_are_no_backups(message):
    assert read_backup("r", "s", message) is None
