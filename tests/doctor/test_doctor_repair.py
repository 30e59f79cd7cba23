"""`llmc doctor --repair` on real roots with real damage: it is repaired, and no work is lost."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from llmc.app import open_site
from llmc.cli.main import main
from llmc.git.backup import list_backups
from llmc.git.locks import locks_on
from llmc.git.repository import branch_tip, current_branch, resolve, status
from llmc.host.locks import FileLock, is_held
from llmc.model import Session, Step, Work
from llmc.store.event_log import LoggedEvent
from llmc.store.state_file import StateFile
from testing.damage import adam as adam
from testing.damage import change_worker, commit, start_agent, start_conflict, write_report
from testing.damage import doctor as doctor
from testing.damage import git as git
from testing.damage import root as root
from testing.damage import source as source
from testing.roots import add_worker, own_tmux
from testing.waiting import wait_until


@pytest.fixture
def repaired(doctor):
    """Repairs everything; nothing may be left but what the test expects."""

    def run(left=frozenset()):
        report = doctor("--repair", "--yes")
        assert report.not_done == []
        assert report.codes == set(left), report.data["findings"]
        return report

    return run


def workers(root):
    return StateFile(root.path).load().workers


def backups(git, root, name="adam"):
    return list_backups(git, root.path, name)


# --- asking ---------------------------------------------------------------------------------------


def test_a_healthy_root_needs_no_repair(repaired, root, adam):
    report = repaired()
    assert (report.code, report.data["repaired"]) == (0, [])


def test_without_anybody_to_ask_nothing_is_changed(root, adam, git, capsys):
    shutil.rmtree(adam.worktree_path)
    assert main(["--root", root.path, "doctor", "--repair"]) == 1
    said = capsys.readouterr()
    assert "make adam's worktree again from its branch" in said.out
    assert "hint: pass --yes" in said.err
    assert not Path(adam.worktree_path).exists()


def at_terminal(root, answers, *words):
    """Runs the command on a terminal of its own and types the answers, each when it is asked for."""
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-m", "llmc.cli.main", "--root", root.path, *words]
    with subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as process:
        os.close(theirs)
        said, left = "", list(answers)
        while select.select([ours], [], [], 30)[0]:
            try:
                said += os.read(ours, 4096).decode()
            except OSError:  # it has ended
                break
            if said.endswith("] ") and left:
                os.write(ours, f"{left.pop(0)}\n".encode())
                said += "\n"
            elif said.endswith("] "):
                process.kill()
        process.kill() if process.poll() is None and left else None
        process.wait(120)
    os.close(ours)
    return process.returncode, said


def test_a_person_may_say_no(root, adam):
    shutil.rmtree(adam.worktree_path)
    code, said = at_terminal(root, ["n"], "doctor", "--repair")
    assert code == 1
    assert "Repair it? [y/N]" in said
    assert not Path(adam.worktree_path).exists()


def test_a_person_may_say_yes(root, adam):
    shutil.rmtree(adam.worktree_path)
    code, said = at_terminal(root, ["y"], "doctor", "--repair")
    assert code == 0, said
    assert Path(adam.worktree_path, "README").exists()


def test_two_things_at_once_are_refused(root, capsys):
    assert main(["--root", root.path, "doctor", "--repair", "--rebuild"]) == 2
    assert "three different things" in capsys.readouterr().err


def test_the_state_is_copied_first(repaired, root, adam):
    before = Path(root.path, "state.json").read_bytes()
    shutil.rmtree(adam.worktree_path)
    repaired()
    assert [copy.read_bytes() for copy in Path(root.path).glob("state.json.before-repair-*")] == [before]


# --- files ----------------------------------------------------------------------------------------


def test_files_of_the_root(repaired, root, adam):
    Path(root.path).chmod(0o755)
    Path(root.path, "state.json").chmod(0o644)
    Path(root.spool("eve")).mkdir(parents=True)
    Path(root.spool("eve"), "1.json").write_text("{}")
    Path(root.worker_lock("eve")).write_text("")
    Path(root.attention_file("eve")).parent.mkdir(parents=True, exist_ok=True)
    Path(root.attention_file("eve")).write_text("{}")
    Path(root.path, ".state.json.new").write_text("half")
    os.utime(Path(root.path, ".state.json.new"), (0, 0))
    repaired()
    assert Path(root.path).stat().st_mode & 0o077 == 0
    assert not Path(root.spool("eve")).exists()
    assert not Path(root.worker_lock("eve")).exists()
    assert not Path(root.path, ".state.json.new").exists()


def test_no_directory_for_worktrees(repaired, root, adam, git):
    sha = commit(git, adam.worktree_path)
    shutil.rmtree(root.worktrees)
    repaired()
    assert Path(adam.worktree_path, "work.txt").read_text() == "work\n"
    assert branch_tip(git, root.path, "llmc/adam") == sha


def test_no_settings(repaired, root, adam, source):
    Path(root.config_file).unlink()
    report = repaired({"agent-missing"} if shutil.which("claude") is None else set())
    assert report.data["repaired"][0]["done"]
    assert open_site(root).config.repo.source == str(source)


def test_a_damaged_event_log(repaired, root, adam):
    for each in Path(root.path).glob("status.db*"):
        each.unlink()
    Path(root.event_log).write_bytes(b"not a database" * 100)
    Path(root.logs, "eve.log").mkdir()
    repaired()
    assert [kept.read_bytes()[:14] for kept in Path(root.path).glob("status.db.corrupt-*")] == [b"not a database"]


def test_an_event_log_with_a_damaged_page(doctor, repaired, root, adam):
    with open_site(root).ledger.events as events:
        events.append(LoggedEvent(1.0, "adam", "padding", detail="x" * 60_000))
    for suffix in ("-wal", "-shm"):
        assert not Path(root.event_log + suffix).exists()
    content = bytearray(Path(root.event_log).read_bytes())
    content[-30_000:-26_000] = b"\xff" * 4000
    content[4096 * 2 : 4096 * 2 + 64] = b"\xff" * 64
    Path(root.event_log).write_bytes(bytes(content))
    assert doctor().codes == {"log-unreadable"}
    repaired()


# --- the state ------------------------------------------------------------------------------------


def test_a_state_that_is_no_json_comes_back_from_its_backup(repaired, root, adam):
    site = open_site(root)
    site.ledger.remember_reviewed("adam")
    Path(root.path, "state.json").write_text("{\n ohoh")
    repaired()
    assert list(workers(root)) == ["adam"]
    assert [kept.read_text() for kept in Path(root.path).glob("state.json.aside-*")] == ["{\n ohoh"]


def test_a_backup_that_is_older_than_what_there_is_does_not_do(repaired, root, adam, git):
    add_worker(root, "eve")
    Path(root.path, "state.json").write_text("")
    repaired()  # the backup does not know eve
    assert sorted(workers(root)) == ["adam", "eve"]


def test_a_state_without_a_backup_is_rebuilt(repaired, root, adam, git):
    sha = commit(git, adam.worktree_path)
    for name in ("state.json", "state.json.bak"):
        Path(root.path, name).unlink(missing_ok=True)
    repaired()
    worker = workers(root)["adam"]
    assert (worker.work, worker.commit_sha, worker.base_sha) == (Work.NEEDS_REVIEW, sha, adam.base_sha)


@pytest.mark.lesson(4, "what may have arrived is looked for and not sent again")
def test_a_text_in_a_restored_state_is_not_sent_again(repaired, root):
    step = Step("adam-1", "Deliver", {"text": "hello", "purpose": "task"})
    add_worker(root, "adam", work=Work.WORKING, resume_work=Work.IDLE, pending=(step,))
    open_site(root).ledger.remember_reviewed("adam")
    Path(root.path, "state.json").write_text("{")
    with FileLock(root.worker_lock("adam")):  # or its steps would be taken too
        repaired()
    assert [each.begun for each in workers(root)["adam"].pending] == [True]


@pytest.mark.parametrize(("number", "left"), [("1", ["adam"]), ("2", ["adam"]), ("3", [])])
def test_a_person_chooses_how_the_state_comes_back(root, adam, number, left):
    open_site(root).ledger.remember_reviewed("adam")
    Path(root.path, "state.json").write_text("{")
    answers = ["y", number] + (["n"] if number == "3" else [])
    code, said = at_terminal(root, answers, "doctor", "--repair")
    assert "1. restore state.json.bak" in said
    assert "4. open it in your editor" in said
    assert list(workers(root)) == left
    assert Path(adam.worktree_path).exists()
    assert code == 0, said


def test_a_person_fixes_the_state_in_the_editor(root, adam, tmp_path, monkeypatch):
    good = Path(root.path, "state.json").read_text()
    (tmp_path / "good").write_text(good)
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\ncat {tmp_path}/good > "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    Path(root.path, "state.json").write_text("{")
    code, said = at_terminal(root, ["y", "4"], "doctor", "--repair")
    assert (code, Path(root.path, "state.json").read_text()) == (0, good), said


def test_records_that_contradict_themselves(repaired, root, adam, git):
    sha = commit(git, adam.worktree_path)
    eve = add_worker(root, "eve")
    later = time.time() + 10**6
    change_worker(root, work="needs_review", commit_sha=None, created_at_unix=later, last_activity_unix=later)
    change_worker(root, "eve", work="needs_review", commit_sha=None, session_id="llmc-adam", name="evi")
    repaired()
    found = workers(root)
    assert (found["adam"].work, found["adam"].commit_sha) == (Work.NEEDS_REVIEW, sha)
    assert found["adam"].created_at_unix <= time.time()
    assert (found["eve"].work, found["eve"].name, found["eve"].session_id) == (
        Work.NEEDS_INPUT,
        "eve",
        eve.session_id,
    )


def test_a_clock_that_was_set_back(doctor, repaired, root, adam):
    hour = time.time() + 3600
    change_worker(root, last_activity_unix=hour, timers={"restart": time.time() + 10**6})
    assert doctor().one("clock-jumped")["worker"] == "adam"
    repaired()
    worker = workers(root)["adam"]
    assert worker.last_activity_unix <= time.time()
    assert worker.timers["restart"] <= time.time()


def test_commits_that_do_not_exist(repaired, root, git):
    adam = add_worker(root, "adam", work=Work.NEEDS_REVIEW, commit_sha="ab" * 20)
    eve = add_worker(root, "eve", work=Work.NEEDS_REVIEW, commit_sha="cd" * 20)
    sha = commit(git, eve.worktree_path)
    repaired()
    found = workers(root)
    assert (found["adam"].work, found["adam"].commit_sha, found["adam"].base_sha) == (
        Work.NEEDS_INPUT,
        None,
        adam.base_sha,
    )
    assert (found["eve"].work, found["eve"].commit_sha) == (Work.NEEDS_REVIEW, sha)


def test_a_worker_in_error(repaired, root):
    add_worker(root, "adam", work=Work.ERROR, resume_work=Work.WORKING, current_prompt="do it")
    add_worker(root, "eve", work=Work.ERROR)
    repaired()
    found = workers(root)
    assert (found["adam"].work, found["adam"].current_prompt) == (Work.NEEDS_INPUT, "do it")
    assert found["eve"].work is Work.IDLE


# --- the clone ------------------------------------------------------------------------------------


def test_a_clone_without_head_and_with_nonsense_among_its_refs(repaired, root, adam, git):
    sha = commit(git, adam.worktree_path)
    git.run(root.path, "pack-refs", "--all")
    packed = Path(root.git_dir, "packed-refs")
    packed.write_text(packed.read_text() + "nonsense\n")
    Path(root.git_dir, "HEAD").unlink()
    repaired()
    assert branch_tip(git, root.path, "llmc/adam") == sha
    assert "nonsense" in next(Path(root.path, "aside").glob("*/packed-refs")).read_text()


def test_a_clone_that_is_gone_is_made_again_and_the_files_stay(repaired, root, adam, git):
    sha = commit(git, adam.worktree_path)
    change_worker(root, work="needs_review", commit_sha=sha)
    shutil.rmtree(root.git_dir)
    repaired()
    assert workers(root)["adam"].work is Work.NEEDS_INPUT
    assert Path(adam.worktree_path, "work.txt").read_text() == "work\n"
    assert current_branch(git, adam.worktree_path) == "llmc/adam"


@pytest.mark.parametrize("content", ["", "ffffffffffffffffffffffffffffffffffffffff\n", "garbage\n"])
def test_a_ref_that_leads_nowhere(doctor, repaired, root, adam, git, content):
    sha = commit(git, adam.worktree_path)
    Path(root.git_dir, "refs/heads/llmc/adam").write_text(content)
    assert "ref-broken" in doctor().codes
    report = doctor("--repair", "--yes")
    assert report.codes == set(), report.data
    assert branch_tip(git, root.path, "llmc/adam") == sha
    assert workers(root)["adam"].branch == "llmc/adam"


def test_a_ref_of_the_source_that_leads_nowhere(repaired, root, adam, git):
    Path(root.git_dir, "refs/remotes/origin").mkdir(parents=True, exist_ok=True)
    Path(root.git_dir, "refs/remotes/origin/main").write_text("")
    repaired()
    assert resolve(git, root.path, "refs/remotes/origin/main") == adam.base_sha


def test_settings_of_the_clone(repaired, root, adam, source, git):
    git.run(root.path, "config", "rerere.enabled", "false")
    moved = source.rename(source.with_name("moved"))
    config = Path(root.config_file)
    config.write_text(config.read_text().replace(f'"{source}"', f'"{moved}"'))
    repaired()
    assert git.text(root.path, "config", "remote.origin.url") == str(moved)


def lock_of(git, worktree, age):
    path = Path(git.text(worktree, "rev-parse", "--path-format=absolute", "--git-path", "index.lock"))
    path.write_text("")
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_a_lock_that_a_killed_git_left(doctor, repaired, root, adam, git):
    lock = lock_of(git, adam.worktree_path, 3600)
    assert doctor().one("git-lock-left-over")["what"].startswith(str(lock))
    repaired()
    assert not lock.exists()


def test_a_lock_that_is_young_or_that_a_running_git_may_have_stays(doctor, root, adam, git, tmp_path):
    lock = lock_of(git, adam.worktree_path, 5)
    assert doctor().codes == set()
    os.utime(lock, (0, 0))
    program = tmp_path / "git-slow"
    shutil.copy(shutil.which("sleep"), program)
    with subprocess.Popen([program, "600"], cwd=adam.worktree_path) as running:
        try:
            assert doctor().codes == set()
        finally:
            running.kill()
    assert "git-lock-left-over" in doctor().codes


def test_a_lock_that_a_killed_git_left_in_the_source(doctor, repaired, source, adam, git):
    lock = lock_of(git, str(source), 3600)
    assert "no process has it" in doctor().one("source-lock-left-over")["what"]
    repaired()
    assert not lock.exists()


def test_a_lock_of_the_source_that_somebody_may_have_is_named_and_stays(doctor, source, adam, git, tmp_path):
    lock = lock_of(git, str(source), 5)
    assert doctor().codes == set()
    os.utime(lock, (time.time() - 120,) * 2)
    found = doctor().one("source-locked")
    assert "no process has it" in found["what"]
    assert not found["repairable"]
    os.utime(lock, (time.time() - 3600,) * 2)
    with open(lock, "ab"):
        assert f"(pid {os.getpid()}) may have it" in doctor().one("source-locked")["what"]
    assert lock.exists()


def test_a_git_that_began_after_the_lock_was_made_cannot_have_it(doctor, source, adam, git, tmp_path):
    lock = lock_of(git, str(source), 3600)
    program = tmp_path / "git-slow"
    shutil.copy(shutil.which("sleep"), program)
    with subprocess.Popen([program, "600"], cwd=source) as running:
        try:
            assert "source-lock-left-over" in doctor().codes
            os.utime(lock, (time.time() + 100,) * 2)
            assert f"(pid {running.pid})" in locks_on(git, str(source), "main")[0].holder
        finally:
            running.kill()


def test_a_journal_of_landings_that_is_damaged_is_set_aside(doctor, repaired, root, adam):
    Path(root.landings).write_text("{")
    assert "landings.json is damaged" in doctor().one("log-unreadable")["why"]
    repaired()
    assert not Path(root.landings).exists()
    assert [path.read_text() for path in Path(root.path, "aside").rglob("landings.json")] == ["{"]


# --- branches and worktrees -----------------------------------------------------------------------


def test_a_worktree_that_is_gone(repaired, root, adam, git):
    sha = commit(git, adam.worktree_path)
    shutil.rmtree(adam.worktree_path)
    repaired()
    assert Path(adam.worktree_path, "work.txt").exists()
    assert branch_tip(git, root.path, "llmc/adam") == sha


def test_a_worktree_that_is_gone_with_commits_on_no_branch(repaired, root, adam, git):
    git.run(adam.worktree_path, "checkout", "--quiet", "--detach")
    sha = commit(git, adam.worktree_path)
    shutil.rmtree(adam.worktree_path)
    repaired()
    assert [each.head_sha for each in backups(git, root)] == [sha]


def test_a_directory_that_git_does_not_know(repaired, root, adam, git):
    sha = commit(git, adam.worktree_path)
    Path(adam.worktree_path, "draft.txt").write_text("draft\n")
    change_worker(root, work="needs_input")
    shutil.rmtree(Path(root.git_dir, "worktrees", "adam"))
    repaired()
    assert git.text(adam.worktree_path, "rev-parse", "HEAD") == sha
    assert [each.path for each in status(git, adam.worktree_path)] == ["draft.txt"]
    assert Path(root.git_dir, "worktrees", "adam").is_dir()


def test_a_worktree_that_does_not_know_its_repository(repaired, root, adam, git):
    Path(adam.worktree_path, ".git").unlink()
    repaired()
    assert current_branch(git, adam.worktree_path) == "llmc/adam"


def test_a_worktree_whose_record_is_damaged(repaired, root, adam, git):
    Path(adam.worktree_path, "draft.txt").write_text("draft\n")
    change_worker(root, work="needs_input")
    Path(root.git_dir, "worktrees", "adam", "HEAD").unlink()
    repaired()
    assert Path(adam.worktree_path, "draft.txt").exists()
    assert current_branch(git, adam.worktree_path) == "llmc/adam"


@pytest.mark.parametrize("by", ["log", "record", "backup", "base"])
def test_a_worker_without_its_branch(repaired, root, adam, git, by):
    sha = commit(git, adam.worktree_path)
    if by == "record":
        change_worker(root, work="needs_review", commit_sha=sha)
    if by == "backup":
        from llmc.git.backup import make_backup

        make_backup(git, adam.worktree_path, "adam", time.time())
    if by != "log":
        Path(root.git_dir, "worktrees/adam/logs/HEAD").unlink()
    git.run(root.path, "update-ref", "-d", "refs/heads/llmc/adam")
    if by == "base":
        git.run(adam.worktree_path, "rm", "--cached", "--quiet", "work.txt")
        change_worker(root, work="needs_input")
    repaired()
    assert branch_tip(git, root.path, "llmc/adam") == (adam.base_sha if by == "base" else sha)
    assert Path(adam.worktree_path, "work.txt").exists()


def test_commits_on_no_branch_that_go_on_from_the_branch(repaired, root, adam, git):
    git.run(adam.worktree_path, "checkout", "--quiet", "--detach")
    sha = commit(git, adam.worktree_path)
    Path(adam.worktree_path, "README").write_text("changed\n")
    change_worker(root, work="needs_input")
    repaired()
    assert branch_tip(git, root.path, "llmc/adam") == sha
    assert current_branch(git, adam.worktree_path) == "llmc/adam"
    assert Path(adam.worktree_path, "README").read_text() == "changed\n"


def test_commits_on_no_branch_that_have_gone_apart_from_it(repaired, root, adam, git):
    base = git.text(adam.worktree_path, "rev-parse", "HEAD")
    ours = commit(git, adam.worktree_path, "ours.txt")
    git.run(adam.worktree_path, "checkout", "--quiet", "--detach", base)
    lost = commit(git, adam.worktree_path, "lost.txt")
    repaired()
    assert (branch_tip(git, root.path, "llmc/adam"), current_branch(git, adam.worktree_path)) == (ours, "llmc/adam")
    (backup,) = backups(git, root)
    worker = workers(root)["adam"]
    assert backup.head_sha == lost
    assert worker.work is Work.NEEDS_INPUT
    assert backup.ref in worker.evidence.detail


def test_a_worktree_behind_its_branch(repaired, root, adam, git):
    sha = commit(git, adam.worktree_path)
    git.run(adam.worktree_path, "checkout", "--quiet", "--detach", adam.base_sha)
    repaired()
    assert git.text(adam.worktree_path, "rev-parse", "HEAD") == sha
    assert Path(adam.worktree_path, "work.txt").exists()


def test_work_on_another_branch(repaired, root, adam, git):
    git.run(adam.worktree_path, "checkout", "--quiet", "-b", "mine")
    sha = commit(git, adam.worktree_path)
    repaired()
    assert branch_tip(git, root.path, "llmc/adam") == branch_tip(git, root.path, "mine") == sha


def test_a_rebase_that_nobody_goes_on_with(repaired, root, adam, git):
    start_conflict(git, adam.worktree_path)
    before = branch_tip(git, root.path, "llmc/adam")
    repaired()
    assert branch_tip(git, root.path, "llmc/adam") == before
    assert current_branch(git, adam.worktree_path) == "llmc/adam"
    assert len(backups(git, root)) == 1


def test_a_rebase_whose_own_files_are_damaged(repaired, root, adam, git):
    start_conflict(git, adam.worktree_path)
    before = branch_tip(git, root.path, "llmc/adam")
    state = Path(git.text(adam.worktree_path, "rev-parse", "--path-format=absolute", "--git-path", "rebase-merge"))
    for name in ("head-name", "orig-head", "onto"):
        (state / name).unlink()
    change_worker(root, work="needs_input")
    repaired()
    (backup,) = backups(git, root)
    assert not state.exists()
    assert before in (backup.branch_sha, branch_tip(git, root.path, "llmc/adam"))


@pytest.mark.lesson(28, "whatever drops work keeps a backup first")
def test_an_idle_worker_with_changes(repaired, root, adam, git):
    Path(adam.worktree_path, "README").write_text("changed\n")
    repaired()
    (backup,) = backups(git, root)
    assert backup.dirty == ("README",)
    assert git.text(root.path, "show", f"{backup.sha}:README") == "changed"


def test_a_worktree_without_a_worker_and_without_work(repaired, root, adam, git):
    path = Path(root.worktrees, "eve")
    git.run(root.path, "worktree", "add", "--quiet", "-b", "llmc/eve", str(path), adam.base_sha)
    repaired()
    assert not path.exists()
    assert branch_tip(git, root.path, "llmc/eve") is None
    assert backups(git, root, "eve")


def test_a_worktree_without_a_worker_with_work_in_it(repaired, root, adam, git):
    path = Path(root.worktrees, "eve")
    git.run(root.path, "worktree", "add", "--quiet", "-b", "llmc/eve", str(path), adam.base_sha)
    sha = commit(git, str(path))
    repaired()
    eve = workers(root)["eve"]
    assert (eve.work, eve.commit_sha, eve.agent) == (Work.NEEDS_REVIEW, sha, "shell")


def test_a_person_may_have_work_without_a_worker_removed(root, adam, git):
    path = Path(root.worktrees, "eve")
    git.run(root.path, "worktree", "add", "--quiet", "-b", "llmc/eve", str(path), adam.base_sha)
    sha = commit(git, str(path))
    code, said = at_terminal(root, ["y", "2"], "doctor", "--repair")
    assert code == 0, said
    assert "there is work in it" in said
    assert list(workers(root)) == ["adam"]
    assert sha in {each.branch_sha for each in backups(git, root, "eve")}


def test_a_directory_among_the_worktrees_is_set_aside_with_all_its_files(repaired, root, adam):
    path = Path(root.worktrees, "eve")
    path.mkdir()
    (path / "notes.txt").write_text("mine\n")
    repaired()
    assert [kept.read_text() for kept in Path(root.path, "aside").glob("*/eve/notes.txt")] == ["mine\n"]


def test_a_branch_without_a_worker(repaired, root, adam, git):
    sha = commit(git, adam.worktree_path)
    change_worker(root, work="needs_review", commit_sha=sha)
    git.run(root.path, "branch", "llmc/eve", sha)
    repaired()
    assert branch_tip(git, root.path, "llmc/eve") is None
    assert [each.head_sha for each in backups(git, root, "eve")] == [sha]


# --- terminals, programs, the daemon --------------------------------------------------------------


def test_sessions_that_are_gone_dead_or_nobodys(repaired, root):
    add_worker(root, "adam", session=Session.UP, current_prompt="do it", work=Work.WORKING)
    add_worker(root, "eve", session=Session.UP)
    with own_tmux(root) as tmux:
        start_agent(tmux, root, "llmc-eve", "sh", "-c", "exit 3")
        start_agent(tmux, root, "llmc-old", "sleep", "600")
        start_agent(tmux, root, "notes", "sleep", "600")
        wait_until(lambda: tmux.panes()["llmc-eve"].dead)
        repaired()
        assert set(tmux.panes()) == {"notes"}
    found = workers(root)
    assert (found["adam"].status, found["adam"].work, found["adam"].current_prompt) == (
        "offline",
        Work.WORKING,
        "do it",
    )
    assert found["eve"].session is Session.CRASHED


def test_programs_that_outlive_their_agent(doctor, repaired, root, adam):
    marks = {**os.environ, "LLMC_ROOT": root.path, "LLMC_WORKER": "adam"}
    others = {**os.environ, "LLMC_ROOT": root.path + "2", "LLMC_WORKER": "adam"}
    # One that does not listen to TERM.
    stubborn = ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"]
    with (
        subprocess.Popen(stubborn, env=marks, stdout=subprocess.PIPE) as stray,
        subprocess.Popen(["sleep", "600"], env=others) as foreign,
    ):
        try:
            assert stray.stdout.readline() == b"ready\n"
            assert "adam" in doctor().one("process-stray")["what"]
            repaired()
            assert stray.wait(120) == -9
            assert foreign.poll() is None
        finally:
            stray.kill()
            foreign.kill()


HOLD = """
import sys
from llmc.host.locks import FileLock
with FileLock(sys.argv[1]):
    sys.stdin.read()
"""


def test_a_daemon_that_was_killed(repaired, root):
    add_worker(root, "adam", session=Session.UP)
    with own_tmux(root) as tmux:
        start_agent(tmux, root, "llmc-adam", "sleep", "600")
        with subprocess.Popen([sys.executable, "-c", HOLD, root.daemon_lock], stdin=subprocess.PIPE) as daemon:
            wait_until(lambda: is_held(root.daemon_lock))
            daemon.kill()
        repaired()


def test_steps_and_reports_that_nobody_takes(repaired, root):
    add_worker(root, "adam", session=Session.STARTING, pending=(Step("adam-1", "StopSession"),))
    write_report(root, "1.json", 300)
    repaired()
    assert (workers(root)["adam"].pending, workers(root)["adam"].session) == ((), Session.DOWN)
    assert list(Path(root.spool("adam")).glob("*.json")) == []


def test_what_only_a_person_can_fix_is_left_and_said(doctor, root, adam, source):
    source.rename(source.with_name("moved"))
    report = doctor("--repair", "--yes")
    assert (report.code, report.codes, report.data["repaired"]) == (1, {"source-gone"}, [])


def test_what_was_repaired_is_in_the_log(repaired, root, adam, capsys):
    shutil.rmtree(adam.worktree_path)
    repaired()
    assert main(["--root", root.path, "events", "adam", "--json"]) == 0
    assert "repair" in {event["kind"] for event in json.loads(capsys.readouterr().out)}
