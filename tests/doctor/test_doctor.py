"""`llmc doctor` on real roots with real damage."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from llmc.cli.main import main
from llmc.doctor.checks import KINDS
from llmc.git.clone import fetch_source
from llmc.host.locks import FileLock, is_held
from llmc.model import Session, Step, Work
from testing.damage import OPTIONAL, Report, change_worker, start_agent, start_conflict, write_report
from testing.damage import adam as adam
from testing.damage import doctor as doctor
from testing.damage import git as git
from testing.damage import root as root
from testing.damage import source as source
from testing.disks import FULL, READ_ONLY, llmc_on_disk
from testing.roots import add_worker, own_tmux
from testing.waiting import wait_until

PYTHON = Path(sys.executable)


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A PATH of one's own with nothing but git, tmux and a shell; more can be written into it."""
    directory = tmp_path / "bin"
    directory.mkdir()
    for name in ("git", "tmux", "bash", "sh", "env"):
        (directory / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(directory))
    return directory


def write_program(path, script):
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def everything_in(path):
    """All there is, with the time of its last change: not even the same content may be written again."""
    return {
        str(each): (each.lstat().st_mtime_ns, each.lstat().st_mode, each.lstat().st_ino) for each in path.rglob("*")
    }


def follow(repair):
    """Does what the doctor says."""
    subprocess.run(["sh", "-c", repair.strip("`")], check=True, capture_output=True)


# --- as it should be ------------------------------------------------------------------------------


def test_a_healthy_root_is_well(doctor, adam):
    report = doctor()
    assert (report.code, report.data["ok"], report.codes) == (0, True, set())
    assert report.data["schema"] == 1
    assert report.data["checked"] == list(dict.fromkeys(kind.topic for kind in KINDS.values() if kind.topic))


def test_for_people(root, adam, capsys):
    Path(root.path).chmod(0o755)
    assert main(["--root", root.path, "doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"ok  git \d+\.\d+, tmux \d+\.\d+", lines[0])
    assert "ok  state: 1 worker" in lines
    at = lines.index(f"warning: modes-open: other users may use {root.path} (mode 0755)")
    assert lines[at + 1 : at + 3] == ["  prompts, code and settings are in there", f"  repair: `chmod go= {root.path}`"]
    assert not [line for line in lines if line.startswith("ok  root")]
    assert lines[-2].startswith("1 warning")
    assert lines[-1] == f"`llmc --root {root.shown} doctor --repair` repairs 1 of them"


def test_it_changes_nothing(root, adam, source, doctor):
    assert Path(root.event_log).exists()
    before = everything_in(Path(root.path)), everything_in(source)
    doctor()
    assert (everything_in(Path(root.path)), everything_in(source)) == before


def test_a_root_with_a_daemon_and_a_running_agent_is_well(root, adam, doctor, capsys):
    """And one that was brought down again is, too."""
    with own_tmux(root):
        assert main(["--root", root.path, "up", "--detach"]) == 0
        try:
            capsys.readouterr()
            assert doctor().codes == set()
        finally:
            assert main(["--root", root.path, "down", "--force"]) == 0
        capsys.readouterr()
        assert doctor().codes == set()


# --- programs and agents --------------------------------------------------------------------------


def test_no_root(tmp_path, capsys):
    assert main(["--root", str(tmp_path / "nothing"), "doctor", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    report = Report(1, data)
    assert report.codes == {"root-missing"}
    assert report.one("root-missing")["repair"] == "`llmc init`"
    assert data["checked"] == ["programs", "root"]
    assert main(["--root", str(tmp_path / "nothing"), "doctor"]) == 1
    assert capsys.readouterr().out.startswith("ok  git")


def test_a_settings_file_of_somebody_else_makes_no_root(tmp_path, capsys):
    (tmp_path / "config.toml").write_text("[other]\n")
    assert main(["--root", str(tmp_path), "doctor", "--json"]) == 1
    assert Report(1, json.loads(capsys.readouterr().out)).codes == {"root-missing"}


def test_no_programs_at_all(doctor, adam, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    report = doctor()
    assert report.code == 1
    assert report.codes == {"git-missing", "tmux-missing", "agent-missing"}
    assert re.fullmatch(r"install git \d+\.\d+ or later", report.one("git-missing")["repair"])
    assert re.fullmatch(r"install tmux \d+\.\d+ or later", report.one("tmux-missing")["repair"])
    assert report.one("agent-missing")["worker"] == "adam"
    assert "repository" not in report.data["checked"]


def test_old_programs(doctor, adam, programs):
    write_program(programs / "git", "echo git version 2.20.1")
    write_program(programs / "tmux", "echo tmux 2.9a")
    report = doctor()
    assert report.codes == {"git-old", "tmux-old"}
    assert report.one("git-old")["what"] == "git 2.20 is too old"
    assert report.one("tmux-old")["what"] == "tmux 2.9 is too old"


def test_programs_that_do_not_run(doctor, adam, programs):
    (programs / "git").unlink()
    (programs / "git").write_bytes(b"\x7fELF that is none")
    (programs / "git").chmod(0o755)
    write_program(programs / "tmux", "echo libevent.so.7: cannot open shared object file >&2; exit 127")
    report = doctor()
    assert report.codes == {"program-broken"}
    whats = {each["what"] for each in report.found("program-broken")}
    assert "tmux does not run: libevent.so.7: cannot open shared object file" in whats
    assert any(what.startswith("git does not ") for what in whats)


def test_optional_programs_are_named_with_what_it_costs_to_be_without(doctor, programs):
    report = doctor()
    assert {each["code"] for each in report.data["findings"]} == OPTIONAL
    assert report.data["ok"]
    assert report.one("difft-missing")["why"] == "`llmc review` shows plain diffs"
    assert "delta" in report.one("delta-missing")["why"]
    assert "pointers" in report.one("lfs-missing")["why"]
    for name in ("difft", "delta", "git-lfs"):
        write_program(programs / name, "exit 0")
    assert doctor().data["findings"] == []


def test_a_repository_that_uses_lfs_needs_it(doctor, root, source, git, programs):
    (source / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    git.run(str(source), "add", "--all")
    git.run(str(source), "-c", "filter.lfs.process=", "commit", "--quiet", "-m", "large files")
    fetch_source(git, str(source), root.path, "main")
    (found,) = doctor().found("lfs-missing")
    assert found["severity"] == "error"


def test_an_agent_that_is_not_installed(doctor, root, programs):
    add_worker(root, "adam", agent="claude")
    add_worker(root, "eve", agent="claude")
    found = doctor().one("agent-missing")
    assert (found["worker"], found["repair"]) == (None, "install claude")
    assert found["why"] == "adam, eve cannot start; `npm install -g @anthropic-ai/claude-code` installs it"


def test_the_agent_of_new_workers_that_is_not_installed(doctor, root, programs):
    config = Path(root.config_file)
    config.write_text(config.read_text().replace('agent = "shell"', 'agent = "codex"'))
    report = doctor()
    (found,) = report.found("agent-missing")
    assert (found["severity"], report.code) == ("warning", 0)


def test_an_agent_that_nobody_describes(doctor, root):
    add_worker(root, "adam", agent="mytool")
    found = doctor().one("agent-unknown")
    assert found["worker"] == "adam"
    assert found["repair"] == f"describe it under `[agents.mytool]` in {root.config_file}"


# --- the files of the root ------------------------------------------------------------------------


def doctor_on(disk, root, tmp_path):
    done = llmc_on_disk(disk, root.path, tmp_path, "doctor", "--json")
    assert done.stderr == ""
    return Report(done.returncode, json.loads(done.stdout))


def test_a_read_only_root(root, adam, tmp_path):
    report = doctor_on(READ_ONLY, root, tmp_path)
    assert report.code == 1
    assert report.codes == {"root-read-only"}
    assert report.one("root-read-only")["repair"].startswith(f"`chmod u+w {root.path}`")


def test_a_full_disk(root, adam, tmp_path):
    report = doctor_on(FULL, root, tmp_path)
    assert report.code == 1
    assert report.codes == {"disk-low"}, report.data
    (found,) = report.found("disk-low")
    assert (found["severity"], found["repair"]) == ("error", f"make room on the disk of {root.path}")


def test_modes_that_are_too_open(doctor, root):
    Path(root.path, "state.json").chmod(0o644)
    report = doctor()
    assert report.code == 0
    assert report.one("modes-open")["repair"] == f"`chmod go= {root.path}/state.json`"


def test_no_directory_for_worktrees(doctor, root):
    Path(root.worktrees).rmdir()
    report = doctor()
    assert report.codes == {"worktrees-missing"}
    assert report.one("worktrees-missing")["repair"] == f"`mkdir {root.worktrees}`"


def test_no_settings(doctor, root, adam):
    Path(root.config_file).unlink()
    report = doctor()
    assert report.codes == {"config-missing"}
    assert report.code == 1


def test_settings_with_a_mistake(doctor, root, adam):
    Path(root.config_file).write_text('[repo]\nsource = "/x"\nbranch = "main"\nvalidat = []\n')
    report = doctor()
    assert report.codes == {"config-broken"}
    found = report.one("config-broken")
    assert found["what"] == f"{root.config_file}:4: unknown key `repo.validat`"
    assert "repo.validate" in found["why"]


def test_a_screen_pack_with_a_mistake(doctor, root, adam):
    pack = Path(root.packs, "mine.toml")
    pack.parent.mkdir()
    pack.write_text('name = "mine"\nversion = 3\n')
    report = doctor()
    assert report.codes == {"pack-broken"}
    assert report.one("pack-broken")["what"] == f"{pack}:2: `version` must be a text"


def test_prices_with_a_mistake(doctor, root, adam):
    prices = Path(root.prices)
    prices.write_text('[[price]]\nmodels = ["mine"]\ninput = -1\noutput = 1\n')
    report = doctor()
    assert report.codes == {"prices-broken"}
    assert report.one("prices-broken")["what"].startswith(f"{prices}: price[0].input must be a number of dollars")


# --- the state ------------------------------------------------------------------------------------


def test_no_state_and_a_backup(doctor, root, adam):
    Path(root.path, "state.json").unlink()
    found = doctor().one("state-missing")
    assert "state.json.bak is usable" in found["why"]
    assert found["repair"] == "`llmc doctor --repair` restores state.json.bak"


def test_a_damaged_state_and_no_backup(doctor, root, adam):
    Path(root.path, "state.json").write_text("{\n ohoh")
    Path(root.path, "state.json.bak").unlink()
    report = doctor()
    assert report.codes == {"state-broken"}
    assert not {"worktrees", "terminals", "records"} & set(report.data["checked"])
    found = report.one("state-broken")
    assert "line 2" in found["what"]
    assert found["repair"].startswith("`llmc doctor --rebuild`")


def test_a_state_of_a_newer_version(doctor, root):
    Path(root.path, "state.json").write_text('{"schema": 99, "workers": {}}')
    assert doctor().codes >= {"state-newer"}
    assert doctor().one("state-newer")["repair"] == "upgrade llmc"


def test_a_state_that_contradicts_itself(doctor, root, adam):
    change_worker(root, work="needs_review", commit_sha=None)
    report = doctor()
    assert report.codes == {"state-inconsistent"}
    found = report.found("state-inconsistent")
    assert [each["worker"] for each in found] == ["adam"]
    assert {"commit_sha"} == {each["what"].split()[2] for each in found}
    assert found[0]["repair"] == "`llmc doctor --repair`"


@pytest.mark.parametrize("name", ["run/spool/adam", "run/agents"])
def test_a_directory_that_was_replaced(doctor, root, adam, tmp_path, name):
    path = Path(root.path, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        path.rename(tmp_path / "before")
    path.write_text("mine")
    assert str(path) in doctor().one("directory-replaced")["what"]
    assert path.read_text() == "mine"


def test_a_worker_in_error(doctor, root):
    add_worker(root, "adam", work=Work.ERROR)
    found = doctor().one("worker-error")
    assert found["repair"].startswith("`llmc restart adam`")


# --- the repositories -----------------------------------------------------------------------------


def remove_clone(root):
    shutil.rmtree(root.git_dir)


def damage_clone(root):
    Path(root.git_dir, "HEAD").unlink()


def damage_refs(root):
    Path(root.git_dir, "packed-refs").write_text("nonsense\n")


def cut_clone_short(root):
    Path(root.path, ".cloning").mkdir()


@pytest.mark.parametrize("damage", [remove_clone, damage_clone, damage_refs, cut_clone_short])
@pytest.mark.parametrize("inside_another", [False, True])
def test_a_broken_clone(doctor, root, adam, git, tmp_path, damage, inside_another):
    if inside_another:
        git.run(str(tmp_path), "init", "--quiet")
    damage(root)
    report = doctor()
    assert report.codes == {"clone-broken"}
    assert root.git_dir in report.one("clone-broken")["what"]


def test_conflict_resolutions_are_not_remembered(doctor, root, git):
    git.run(root.path, "config", "rerere.enabled", "false")
    found = doctor().one("rerere-off")
    assert found["repair"] == f"`git -C {root.path} config rerere.enabled true`"


def test_nobody_to_commit_as(doctor, root, git):
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text("[user]\n    useConfigOnly = true\n")
    for name in ("user.name", "user.email"):
        git.run(root.path, "config", "--unset", name)
    assert "user.email" in doctor().one("identity-missing")["repair"]


def test_the_source_is_gone(doctor, root, source):
    source.rename(source.with_name("moved"))
    report = doctor()
    assert report.codes == {"source-gone"}
    assert str(source) in report.one("source-gone")["what"]


def test_the_source_is_no_repository_any_more(doctor, root, source):
    shutil.rmtree(source / ".git")
    assert doctor().codes == {"source-gone"}


def test_the_source_was_moved_and_only_the_settings_know(doctor, root, source):
    moved = source.rename(source.with_name("moved"))
    config = Path(root.config_file)
    config.write_text(config.read_text().replace(f'"{source}"', f'"{moved}"'))
    report = doctor()
    assert report.codes == {"source-differs"}
    assert report.one("source-differs")["repair"] == f"`git -C {root.path} remote set-url origin {moved}`"


def test_another_way_to_the_same_source_is_no_difference(doctor, root, source, git):
    git.run(root.path, "remote", "set-url", "origin", f"{source}/.git")
    assert doctor().codes == set()


def test_the_branch_is_gone(doctor, root, source, git):
    git.run(str(source), "branch", "-m", "main", "trunk")
    found = doctor().one("branch-missing")
    assert found["what"] == f"{source} has no branch main"


def test_a_branch_without_a_worker(doctor, root, adam, git):
    git.run(root.path, "branch", "llmc/eve", adam.base_sha)
    git.run(root.path, "branch", "experiment", adam.base_sha)
    report = doctor()
    assert report.codes == {"branch-orphaned"}
    assert "llmc/eve" in report.one("branch-orphaned")["what"]


# --- worktrees ------------------------------------------------------------------------------------


def test_a_worktree_that_is_gone(doctor, root, adam):
    shutil.rmtree(adam.worktree_path)
    report = doctor()
    assert report.codes == {"worktree-missing"}
    found = report.one("worktree-missing")
    assert (found["worker"], found["why"]) == ("adam", "its branch is still there")


def test_a_directory_that_git_does_not_know(doctor, root, adam):
    shutil.rmtree(Path(root.git_dir, "worktrees", "adam"))
    report = doctor()
    assert report.codes == {"worktree-unregistered"}
    assert report.one("worktree-unregistered")["worker"] == "adam"


def test_a_worktree_that_does_not_know_its_repository(doctor, root, adam):
    Path(adam.worktree_path, ".git").unlink()
    assert doctor().codes == {"worktree-unregistered"}


def test_another_branch_checked_out(doctor, root, adam, git):
    git.run(adam.worktree_path, "checkout", "--quiet", "-b", "mine")
    report = doctor()
    assert report.codes == {"worktree-wrong-branch"}
    found = report.one("worktree-wrong-branch")
    assert found["what"] == "adam's worktree has the branch mine checked out"
    assert found["repair"] == f"`git -C {adam.worktree_path} checkout llmc/adam`"


def test_no_branch_checked_out(doctor, root, adam, git):
    git.run(adam.worktree_path, "checkout", "--quiet", "--detach")
    assert "no branch" in doctor().one("worktree-wrong-branch")["what"]


def test_an_idle_worker_with_changes(doctor, root, adam):
    Path(adam.worktree_path, "README").write_text("changed\n")
    name = Path(os.fsdecode(b"caf\xe9.txt"))
    Path(adam.worktree_path, name).write_text("no UTF-8 in its name\n")
    found = doctor().one("worktree-dirty-idle")
    assert "README" in found["what"]
    assert found["repair"].startswith("`llmc reset adam`")


def test_a_rebase_that_nobody_goes_on_with(doctor, root, adam, git):
    start_conflict(git, adam.worktree_path)
    report = doctor()
    assert report.codes == {"rebase-left-over"}
    found = report.one("rebase-left-over")
    assert found["repair"] == f"`git -C {adam.worktree_path} rebase --abort`"
    follow(found["repair"])
    assert doctor().codes == set()


def test_a_rebase_of_a_worker_that_is_rebasing(doctor, root, git):
    adam = add_worker(root, "adam", work=Work.REBASING, rebase_started_at_unix=time.time())
    start_conflict(git, adam.worktree_path)
    assert doctor().codes == set()


def test_a_worker_without_its_branch(doctor, root, adam, git):
    git.run(root.path, "update-ref", "-d", "refs/heads/llmc/adam")
    report = doctor()
    assert report.codes == {"branch-missing-for-worker"}
    assert report.one("branch-missing-for-worker")["worker"] == "adam"


@pytest.mark.parametrize("registered", [True, False])
def test_a_worktree_without_a_worker(doctor, root, adam, git, registered):
    path = Path(root.worktrees, "eve")
    if registered:
        git.run(root.path, "worktree", "add", "--quiet", "--detach", str(path), adam.base_sha)
    else:
        path.mkdir()
    Path(root.worktrees, "notes.txt").write_text("none of ours\n")
    report = doctor()
    assert report.codes == {"worktree-orphaned"}
    assert str(path) in report.one("worktree-orphaned")["what"]


def test_a_worker_that_is_being_added_is_no_orphan(doctor, root, adam, git):
    path = Path(root.worktrees, "eve")
    git.run(root.path, "worktree", "add", "--quiet", "-b", "llmc/eve", str(path), adam.base_sha)
    with FileLock(root.worker_lock("eve")):
        assert doctor().codes == set()
    assert doctor().codes == {"branch-orphaned", "worktree-orphaned"}


def test_a_commit_that_does_not_exist(doctor, root):
    add_worker(root, "adam", work=Work.NEEDS_REVIEW, commit_sha="ab" * 20)
    report = doctor()
    assert report.codes == {"commit-unknown"}
    found = report.one("commit-unknown")
    assert found["what"] == f"adam's record names commits that do not exist: {'ab' * 20}"


# --- terminals ------------------------------------------------------------------------------------


def test_a_session_that_is_gone(doctor, root):
    add_worker(root, "adam", session=Session.UP)
    report = doctor()
    assert report.codes == {"session-missing"}
    assert report.one("session-missing")["repair"] == "`llmc restart adam`"


def test_a_session_whose_agent_has_ended(doctor, root):
    add_worker(root, "adam", session=Session.UP)
    with own_tmux(root) as tmux:
        start_agent(tmux, root, "llmc-adam", "sh", "-c", "exit 3")
        wait_until(lambda: tmux.panes()["llmc-adam"].dead)
        report = doctor()
    assert report.codes == {"session-dead"}
    assert report.one("session-dead")["worker"] == "adam"


def test_a_session_of_an_agent_that_was_killed(doctor, root):
    """tmux 3.3 may not notice; the process table does."""
    add_worker(root, "adam", session=Session.UP)
    with own_tmux(root) as tmux:
        pane = start_agent(tmux, root, "llmc-adam", "sleep", "600")
        assert doctor().codes == set()
        os.kill(pane.pid, signal.SIGKILL)
        assert wait_until(lambda: "session-dead" in doctor().codes)


def test_a_session_without_a_worker(doctor, root, adam):
    with own_tmux(root) as tmux:
        start_agent(tmux, root, "llmc-eve", "sleep", "600")
        start_agent(tmux, root, "notes", "sleep", "600")
        found = doctor().one("session-orphaned")
        assert found["repair"] == f"`tmux -L {root.tmux_socket} kill-session -t =llmc-eve`"
        follow(found["repair"])
        assert doctor().codes == set()


@pytest.mark.lesson(21, "not knowing moves nobody")
def test_a_tmux_that_does_not_answer_says_nothing_about_sessions(doctor, root, programs):
    add_worker(root, "adam", session=Session.UP)
    write_program(programs / "tmux", "[ $1 = -V ] && echo tmux 3.3a || { echo protocol version mismatch >&2; exit 1; }")
    report = doctor()
    assert report.codes == {"not-checked"}
    found = report.one("not-checked")
    assert found["what"] == "could not check the tmux server"
    assert "protocol version mismatch" in found["why"]
    assert "terminals" not in report.data["checked"]


def test_a_worktree_that_git_cannot_read(doctor, root, adam, git):
    index = Path(git.text(adam.worktree_path, "rev-parse", "--path-format=absolute", "--git-path", "index"))
    index.write_bytes(b"damaged" * 10)
    found = doctor().one("not-checked")
    assert found["what"] == "could not check adam: uncommitted changes"
    assert "index" in found["why"]


# --- the daemon, steps, reports, logs -------------------------------------------------------------

HOLD = """
import sys
from llmc.host.locks import FileLock
with FileLock(sys.argv[1]):
    sys.stdin.read()
"""


def test_a_daemon_that_was_killed(doctor, root):
    add_worker(root, "adam", session=Session.UP)
    with own_tmux(root) as tmux:
        start_agent(tmux, root, "llmc-adam", "sleep", "600")
        with subprocess.Popen([PYTHON, "-c", HOLD, root.daemon_lock], stdin=subprocess.PIPE) as daemon:
            wait_until(lambda: is_held(root.daemon_lock))
            assert doctor().codes == set()
            daemon.kill()
        report = doctor()
    assert report.codes == {"daemon-stale"}
    assert report.one("daemon-stale")["what"] == f"the daemon (pid {daemon.pid}) was ended by force"


def test_a_daemon_that_hangs(doctor, root, adam):
    hour_ago = time.time() - 3600
    change_worker(root, created_at_unix=hour_ago, last_activity_unix=hour_ago)
    path = Path(root.path, "state.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"patrol_last_run_unix": hour_ago}))
    with FileLock(root.daemon_lock) as lock:
        since = {"pid": os.getpid(), "command": "llmc up", "since_unix": hour_ago - 60}
        lock.path.write_text(json.dumps(since))
        found = doctor().one("daemon-stuck")
    assert found["repair"].startswith(f"`kill {os.getpid()}`")


def test_steps_that_nobody_takes(doctor, root):
    add_worker(root, "adam", pending=(Step("adam-1", "StartSession"),))
    assert "StartSession" in doctor().one("steps-waiting")["what"]
    with FileLock(root.worker_lock("adam")):
        assert doctor().codes == set()


def test_reports_that_nobody_takes(doctor, root, adam):
    write_report(root, "1.json", 300)
    write_report(root, "2.json", 1)
    write_report(root, ".half.json", 300)
    report = doctor()
    (found,) = report.found("events-waiting")
    assert (found["severity"], found["worker"]) == ("note", "adam")
    assert "2 reports" in found["what"]
    with FileLock(root.daemon_lock):
        assert doctor().one("events-waiting")["why"] == "the daemon does not take them"


def test_reports_that_are_not_understood(doctor, root, adam):
    write_report(root, "bad/1.json", 300)
    found = doctor().one("events-bad")
    assert found["repair"] == f"read the notes in {root.spool('adam')}/bad, then remove it"


def test_logs_that_cannot_be_read(doctor, root, adam):
    log = Path(root.event_log)
    for each in log.parent.glob("status.db*"):
        each.unlink()
    log.write_bytes(b"not a database" * 100)
    Path(root.logs, "eve.log").mkdir()
    before = everything_in(Path(root.path))
    found = {each["what"]: each["repair"] for each in doctor().found("log-unreadable")}
    assert found == {
        f"{path} cannot be read": f"move {path} away; a new one is begun by itself"
        for path in (root.event_log, f"{root.logs}/eve.log")
    }
    assert everything_in(Path(root.path)) == before


def test_an_event_log_that_was_just_begun_is_well(doctor, root):
    Path(root.event_log).write_bytes(b"")
    assert doctor().codes == set()


# --- whatever else ---------------------------------------------------------------------------------


def make_directory(path):
    path.mkdir()


def make_garbage(path):
    path.write_bytes(bytes(range(256)) * 8)


def make_pipe(path):
    os.mkfifo(path)


def make_loop(path):
    path.symlink_to(path.name)


def make_nothing(path):
    assert not path.exists()


PARTS = ("config.toml", "state.json", "state.json.bak", "status.db", ".git", ".worktrees", "logs", "run", "run/locks")


@pytest.mark.parametrize("part", PARTS)
def test_whatever_is_damaged_there_is_an_answer_and_nothing_changes(doctor, root, adam, part):
    path = Path(root.path, part)
    for damage in (make_nothing, make_directory, make_garbage, make_pipe, make_loop):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        damage(path)
        before = everything_in(Path(root.path))
        report = doctor()
        assert report.code == (0 if report.data["ok"] else 1)
        assert report.data["checked"]
        assert everything_in(Path(root.path)) == before, damage


def test_an_agent_that_should_report_and_does_not(doctor, root):
    add_worker(root, "adam", agent="demo", session=Session.UP)
    with own_tmux(root) as tmux:
        start_agent(tmux, root, "llmc-adam", "sleep", "600")
        assert doctor().one("agent-silent")["worker"] == "adam"
        change_worker(root, reports_events=True)
        assert doctor().codes == set()


def test_files_that_belong_to_nobody(doctor, root, adam):
    Path(root.settings_dir("eve")).mkdir(parents=True)
    with FileLock(root.worker_lock("eve")):
        assert doctor().codes == set()  # somebody is making it
    found = doctor().one("files-left-over")
    assert root.settings_dir("eve") in found["what"]


def test_nothing_belongs_to_nobody_where_it_is_not_known_which_names_are_in_use(doctor, root, adam):
    Path(root.settings_dir("eve")).mkdir(parents=True)
    shutil.rmtree(root.worktrees)
    make_loop(Path(root.worktrees))
    codes = {each["code"] for each in doctor().data["findings"]}
    assert "not-checked" in codes
    assert "files-left-over" not in codes


def test_every_code_is_provoked():
    tests = [file.read_text("utf-8") for file in Path(__file__).parent.parent.rglob("test_*.py")]
    assert [code for code in KINDS if not any(f'"{code}"' in text for text in tests)] == []
