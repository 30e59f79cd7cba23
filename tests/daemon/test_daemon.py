"""The daemon with real agents in real terminals: what it notices, what it survives, what it leaves."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from llmc.core.lifecycle.effects import StartSession, from_step
from llmc.daemon.process import running_daemon
from llmc.git.backup import list_backups, make_backup
from llmc.host.processes import descendants, is_running
from llmc.model import Session, Work, Worker
from testing.attached import Person
from testing.story import LLMC, Story, end_abruptly, script

WITH_CHILDREN = """
[agents.parent]
command = ["sh", "-c", "sleep 1000 & (sleep 2000 &) ; exec '{python}' -P -m llmc.demo"]
pack = "demo"
events = true
"""


def end_daemon(story: Story, number: signal.Signals) -> None:
    pid = story.daemon()
    os.kill(pid, number)
    story.until(lambda: not is_running(pid))


def kept(worker: Worker) -> tuple[object, ...]:
    """What no loss of a daemon or of a session may change."""
    return worker.work, worker.current_prompt, worker.commit_sha, worker.base_sha, worker.crash_count


# --- sessions ---------------------------------------------------------------------------------------


@pytest.mark.lesson(13, "the loss of a session never erases the work")
def test_a_killed_agent_is_offline_and_keeps_its_work(story: Story) -> None:
    story.begin("adam").up()
    story.task("adam", "write a.txt x", "hang")
    story.until(lambda: story.worker("adam").turn == "open")
    before = story.worker("adam")
    story.until(lambda: Path(before.worktree_path, "a.txt").exists())

    end_abruptly(story.pane("adam").pid)

    crashed = story.wait("adam", Work.WORKING, Session.CRASHED)
    assert crashed.status == "offline"
    assert crashed.current_prompt == before.current_prompt == script("write a.txt x", "hang")
    assert crashed.crash_count == 1
    assert "signal 9" in crashed.evidence.detail

    story.llmc("restart", "adam")
    back = story.wait("adam", Work.WORKING, Session.UP)
    assert back.current_prompt == before.current_prompt
    assert back.crash_count == 1
    assert story.prompts("adam") == 1
    assert (Path(back.worktree_path) / "a.txt").read_text() == "x\n"


@pytest.mark.lesson(16, "interrupts and deaths that nobody reports are seen by process and screen")
def test_a_crash_on_its_own_counts_and_keeps_the_last_words(story: Story) -> None:
    story.begin("adam").up()
    # It may be gone before it has said that it took the task: then the receipt says so.
    story.crash("adam", "crash 3")
    crashed = story.wait("adam", Work.WORKING, Session.CRASHED)
    assert crashed.crash_count == 1
    (ended,) = story.events("adam", "process.exit")
    assert ended.detail == "the agent crashed (exit code 3): demo agent crashed on request"


def test_closing_the_agent_is_not_a_crash(story: Story) -> None:
    story.begin("adam").up()
    story.press("adam", "/exit", "Enter")
    closed = story.wait("adam", Work.IDLE, Session.DOWN)
    assert closed.crash_count == 0
    assert closed.evidence.detail == "exit code 0"


@pytest.mark.lesson(13, "the loss of a session never erases the work")
def test_without_tmux_everybody_is_offline_and_up_brings_them_back(story: Story) -> None:
    story.begin("adam", "baker").up()
    story.task("adam", "hang")
    story.work("baker", "write b.txt x", "commit Add b")
    before = {name: kept(story.worker(name)) for name in ("adam", "baker")}

    end_abruptly(story.pane("adam").server_pid)

    for name in before:
        assert kept(story.wait(name, session=Session.DOWN)) == before[name]
    end_daemon(story, signal.SIGTERM)
    story.up()
    for name in before:
        assert kept(story.wait(name, session=Session.UP)) == before[name]
    assert story.prompts("adam") == 1


@pytest.mark.lesson(13, "the loss of a session never erases the work")
def test_without_tmux_up_brings_everybody_back_while_the_daemon_runs(story: Story) -> None:
    pid = story.begin("adam", "baker", "charlie").up()
    story.task("adam", "hang")
    story.until(lambda: story.prompts("adam") == 1)
    story.rewrite("charlie", stopped_by_user=True)
    before = {name: kept(story.worker(name)) for name in ("adam", "baker")}

    end_abruptly(story.pane("adam").server_pid)

    said = story.llmc("up", "--detach")
    assert said.out.splitlines()[0] == f"the daemon runs already (pid {pid}); brought up again:"
    for name in before:
        assert kept(story.wait(name, session=Session.UP)) == before[name]
        assert f"{name}: {before[name][0].value}" in said.out
    assert story.daemon() == pid
    assert story.worker("charlie").session is Session.DOWN
    assert f"runs already (pid {pid})" in story.llmc("up", code=1).err


# --- the daemon itself ------------------------------------------------------------------------------


def test_a_new_daemon_takes_over_what_a_killed_one_left(story: Story) -> None:
    first = story.begin("adam", "baker", "charlie").up()
    story.task("adam", "permit make", "write a.txt x", "commit Add a")
    story.wait("adam", Work.NEEDS_INPUT)
    story.work("baker", "write b.txt x", "commit Add b")
    story.task("charlie", "hang")
    story.until(lambda: story.prompts("charlie") == 1)
    pids = {name: story.pane(name).pid for name in ("adam", "baker", "charlie")}
    before = {name: kept(story.worker(name)) for name in ("baker", "charlie")}

    end_abruptly(first)
    story.press("adam", "y")
    spool = Path(story.root.spool("adam"))
    story.until(lambda: any("turn_end" in file.read_text() for file in spool.glob("*.json")))
    assert story.worker("adam").work is Work.NEEDS_INPUT
    second = story.up()

    story.wait("adam", Work.NEEDS_REVIEW)
    assert second != first
    assert {name: story.pane(name).pid for name in pids} == pids
    assert {name: kept(story.worker(name)) for name in before} == before
    assert {name: story.prompts(name) for name in pids} == dict.fromkeys(pids, 1)
    assert list(spool.glob("*.json")) == []


def test_the_live_view_goes_on_while_nothing_happens(story: Story) -> None:
    story.begin("adam")
    argv = [*LLMC, "--root", story.root.path, "up", "--no-patrol"]
    with Person(argv, {**os.environ, "NO_COLOR": "1"}, columns=120) as person:
        story.wait("adam", Work.IDLE, Session.UP)

        def ages() -> set[bytes]:
            return set(re.findall(rb"adam +idle +ready +ready for a task +(\d+s)", person.shown))

        story.until(ages)
        before = story.worker("adam")
        story.until(lambda: len(ages()) >= 3)
        assert story.worker("adam") == before

        state = Path(story.root.path, "state.json")
        kept = state.read_bytes()
        state.write_text("{")
        story.until(lambda: b"error: " in person.shown)
        state.write_bytes(kept)
        drawn = len(person.shown)
        story.until(lambda: re.search(rb"adam +idle", person.shown[drawn:]))


def test_a_second_daemon_is_refused_with_the_pid_of_the_first(story: Story) -> None:
    pid = story.begin("adam").up()
    for words in (("up",), ("up", "--detach")):
        said = story.llmc(*words, code=1)
        assert f"runs already (pid {pid})" in said.err
        assert "llmc down" in said.err
    assert story.daemon() == pid


def test_of_two_daemons_that_start_at_once_one_is_refused(story: Story) -> None:
    story.begin()
    both = [story.spawn("up", "--detach") for _ in range(2)]
    assert sorted(each.wait(120) for each in both) == [0, 1]
    said = (story.place / "spawned.log").read_text()
    assert f"the daemon runs (pid {story.daemon()})" in said
    assert f"runs already (pid {story.daemon()})" in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_agents_go_on_when_the_daemon_is_told_to_leave(story: Story, number: signal.Signals) -> None:
    story.begin("adam").up()
    story.task("adam", "hang")
    pid = story.pane("adam").pid
    end_daemon(story, number)
    assert is_running(pid)
    worker = story.worker("adam")
    assert (worker.work, worker.session, worker.stopped_by_user) == (Work.WORKING, Session.UP, False)


def test_an_interrupt_stops_the_agents_too(story: Story) -> None:
    story.begin("adam", "baker").up()
    pids = [story.pane(name).pid for name in ("adam", "baker")]
    end_daemon(story, signal.SIGINT)
    assert not any(is_running(pid) for pid in pids)
    assert [story.worker(name).session for name in ("adam", "baker")] == [Session.DOWN, Session.DOWN]
    assert story.worker("adam").stopped_by_user


@pytest.mark.lesson(36, "a process tree is ended whole, adopted children included")
@pytest.mark.lesson(22, "idleness ends nobody, restarts are bounded, a stop that was asked for is kept")
@pytest.mark.lesson(39, "the daemon never undoes what a command did")
def test_down_ends_everything_and_remembers_that_it_was_meant(story: Story) -> None:
    story.begin("adam", agents=WITH_CHILDREN.replace("{python}", sys.executable), agent="parent")
    story.up()
    agent = story.pane("adam").pid
    family = [agent, *descendants(agent)]
    assert len(family) == 3, "the agent, its child and the child that it has handed on"
    story.llmc("down")
    assert not any(is_running(pid) for pid in family)
    story.until_all_have_ended()  # what the daemon had running ends when it notices that nobody reads
    worker = story.worker("adam")
    assert (worker.session, worker.stopped_by_user, worker.crash_count) == (Session.DOWN, True, 0)
    assert running_daemon(story.root) is None


SLOW = """
[agents.slow]
command = ["sleep", "1000"]
"""
"""It never shows a prompt."""


def while_starting(story: Story) -> subprocess.Popen[bytes]:
    story.begin("adam", agent="slow", agents=SLOW)
    daemon = story.spawn_cold("up")
    story.until(lambda: "llmc-adam" in story.site.tmux.panes())
    return daemon


@pytest.mark.parametrize("how", ["down", "an interrupt"])
def test_nobody_waits_for_an_agent_that_is_still_starting(story: Story, how: str) -> None:
    daemon = while_starting(story)
    agent = story.pane("adam").pid
    if how == "down":
        story.llmc("down")
    else:
        daemon.send_signal(signal.SIGINT)
    assert daemon.wait(120) == 0
    assert not is_running(agent)
    worker = story.worker("adam")
    assert (worker.work, worker.session, worker.stopped_by_user, worker.pending) == (Work.IDLE, Session.DOWN, True, ())


def test_a_start_that_was_left_is_taken_up_by_the_next_daemon(story: Story) -> None:
    daemon = while_starting(story)
    agent = story.pane("adam").pid
    daemon.send_signal(signal.SIGTERM)
    assert daemon.wait(120) == 0
    assert is_running(agent)
    assert [from_step(step) for step in story.worker("adam").pending] == [StartSession()]
    story.spawn_cold("up")
    story.until(lambda: running_daemon(story.root) is not None)
    story.llmc("down")
    assert not is_running(agent)
    assert story.worker("adam").work is Work.IDLE


@pytest.mark.lesson(34, "a tmux server of our own, and exact names on it")
def test_the_tmux_server_of_a_person_is_left_alone(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command is typed inside of it, and it has a session of the very name."""
    own = ["tmux", "new-session", "-d", "-s", "llmc-adam", "-PF", "#{socket_path},#{pid},0 #{pane_pid}", "sleep 1000"]
    variable, pane = subprocess.run(own, check=True, capture_output=True, text=True).stdout.split()
    monkeypatch.setenv("TMUX", variable)
    story.begin("adam").up()
    assert story.pane("adam").server_pid != int(variable.split(",")[1])
    story.llmc("nuke", "adam", "--yes")
    story.llmc("down", "--force")
    assert is_running(int(pane))


def test_down_works_without_a_daemon(story: Story) -> None:
    pid = story.begin("adam").up()
    end_abruptly(pid)
    story.llmc("down")
    story.until_all_have_ended()  # what the daemon had running ends when it notices that nobody reads


# --- what commands do meanwhile ---------------------------------------------------------------------


def test_a_worker_that_is_added_comes_up_at_once(story: Story) -> None:
    story.begin().up()
    story.llmc("add", "adam", "--agent", "demo")
    story.wait("adam", Work.IDLE, Session.UP)
    assert story.work("adam", "write a.txt x", "commit Add a").reports_events


@pytest.mark.lesson(29, "a worktree is reset in place, under its running agent")
@pytest.mark.lesson(39, "the daemon never undoes what a command did")
def test_a_worker_that_is_removed_never_comes_back(story: Story) -> None:
    story.begin("adam", "baker").up()
    agent = story.pane("adam").pid
    story.llmc("nuke", "adam", "--yes")
    assert not is_running(agent)
    # The daemon has seen the removal when it has seen what came after it.
    story.work("baker", "write b.txt x", "commit Add b")
    assert list(story.site.ledger.load().workers) == ["baker"]
    assert list(story.site.tmux.panes()) == ["llmc-baker"]
    assert not Path(story.root.worktree("adam")).exists()


def test_a_new_worker_may_have_the_name_of_a_removed_one(story: Story) -> None:
    story.begin("adam").up()
    first = story.worker("adam")
    story.llmc("nuke", "adam", "--yes")
    story.llmc("add", "adam", "--agent", "demo")
    story.wait("adam", Work.IDLE, Session.UP)
    second = story.work("adam", "write a.txt x", "commit Add a")
    assert second.created_at_unix > first.created_at_unix
    assert second.crash_count == 0


def test_settings_are_read_anew(story: Story) -> None:
    story.begin("adam").up()
    settings = Path(story.root.config_file)
    settings.write_text(settings.read_text() + '\n[agents.quick]\ncommand = ["false"]\n')
    story.llmc("add", "baker", "--agent", "quick")
    failed = story.wait("baker", Work.ERROR)
    assert "ended at once (exit code 1)" in failed.evidence.detail


def test_old_backups_are_cleared_away(story: Story) -> None:
    story.begin("adam", backup__keep_days="1", backup__keep_count="2")
    site, long_ago = story.site, story.site.now() - 100 * 86_400
    for n in range(5):
        make_backup(site.git, site.root.worktree("adam"), "adam", long_ago + n)
    assert len(list_backups(site.git, site.root.path)) == 5
    story.up()
    story.until(lambda: len(list_backups(site.git, site.root.path)) == 2)
    assert sorted(round(backup.at_unix - long_ago) for backup in list_backups(site.git, site.root.path)) == [3, 4]


def test_what_cannot_be_mended_is_said_once(story: Story) -> None:
    story.begin("adam").up()
    Path(story.root.path, ".git", "worktrees", "adam", "index").write_text("no index\n")
    log = Path(story.root.daemon_log)
    report = Path(story.root.spool("adam"), ".new")
    report.write_text('{"event": "turn_end"}')
    report.rename(report.with_name("1.json"))
    story.until(lambda: '"worker": "adam"' in log.read_text())
    story.llmc("add", "baker", "--agent", "demo")
    story.wait("baker", Work.IDLE, Session.UP)
    story.work("baker", "write b.txt x", "commit Add b")
    assert len([line for line in log.read_text().splitlines() if '"worker": "adam"' in line]) == 1
    assert story.worker("adam").work is Work.IDLE


# --- commits ----------------------------------------------------------------------------------------


def silent_commit(story: Story, message: str) -> str:
    """A commit as an agent makes it that has no hand in the worktree's own log."""
    tree = story.git("rev-parse", "llmc/adam^{tree}", cwd=story.root.path)
    sha = story.git("commit-tree", tree, "-p", "llmc/adam", "-m", message, cwd=story.root.path)
    story.git("update-ref", "refs/heads/llmc/adam", sha, cwd=story.root.path)
    return sha


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_branch_that_moves_after_git_has_written_its_log_is_noticed(story: Story, packed: bool) -> None:
    story.begin("adam").up()
    if packed:
        story.git("pack-refs", "--all", "--prune", cwd=story.root.path)
        assert not Path(story.root.git_dir, "refs/heads/llmc").exists()
    first = story.commit_as("adam", "a.txt", "a\n", "First")
    story.until(lambda: story.worker("adam").commit_sha == first)
    second = silent_commit(story, "Second")
    story.until(lambda: story.worker("adam").commit_sha == second)


# --- the user's branch ------------------------------------------------------------------------------


def test_work_that_waits_follows_the_branch(story: Story) -> None:
    story.begin("adam").up()
    first = story.work("adam", "write a.txt x", "commit Add a")
    tip = story.commit_upstream("b.txt", "b\n", "By hand")
    story.until(lambda: story.worker("adam").base_sha == tip)
    rebased = story.wait("adam", Work.NEEDS_REVIEW)
    assert rebased.commit_sha != first.commit_sha
    assert story.git("rev-parse", f"{rebased.commit_sha}~1", cwd=story.root.path) == tip
    assert story.prompts("adam") == 1


def test_a_conflict_goes_to_the_agent_and_comes_back_for_review(story: Story) -> None:
    story.begin("adam").up()
    story.work("adam", "write README ours", "commit Ours")
    tip = story.commit_upstream("README", "theirs\n", "Theirs")
    story.until(lambda: story.prompts("adam") == 2)
    resolved = story.wait("adam", Work.NEEDS_REVIEW)
    assert resolved.base_sha == tip
    assert story.git("show", f"{resolved.commit_sha}:README", cwd=story.root.path) == "theirs\nours"
    assert [event.detail for event in story.events("adam", "git.conflict")] == ["README"]


def test_an_aborted_rebase_is_told_and_not_begun_again(story: Story) -> None:
    story.begin("adam").up()
    # The conflict itself is what the agent is asked to do: the lines of the file are in its prompt.
    first = story.work("adam", "write README demo:abort-rebase", "commit Ours")
    story.commit_upstream("README", "theirs\n", "Theirs")
    story.until(lambda: story.events("adam", "git.rebase_aborted"))
    story.until(lambda: story.worker("adam").turn == "over")
    assert story.wait("adam", Work.NEEDS_REVIEW).commit_sha == first.commit_sha
    (told,) = story.events("adam", "git.rebase_aborted")
    assert told.detail == "the rebase was aborted; the branch is as it was before"
    # Whatever happens next, it is not begun again as long as neither side moves.
    story.llmc("restart", "adam")
    story.llmc("add", "baker", "--agent", "demo")
    story.wait("baker", Work.IDLE, Session.UP)
    assert story.wait("adam", Work.NEEDS_REVIEW, Session.UP).commit_sha == first.commit_sha
    assert story.prompts("adam") == 2


# --- noticing work ----------------------------------------------------------------------------------


def commit_without_a_trace(story: Story, name: str) -> str:
    """The branch moves, and no log of any HEAD tells: as a person does it in another repository."""
    tree = story.git("rev-parse", f"llmc/{name}^{{tree}}", cwd=story.root.path)
    sha = story.git("commit-tree", "-p", f"llmc/{name}", "-m", "From elsewhere", tree, cwd=story.root.path)
    story.git("update-ref", f"refs/heads/llmc/{name}", sha, cwd=story.root.path)
    return sha


@pytest.mark.parametrize("packed", [False, True])
def test_a_branch_that_is_moved_from_elsewhere_is_noticed(story: Story, packed: bool) -> None:
    story.begin("adam", "baker", defaults__patrol_interval_secs="3600").up()
    for name in ("adam", "baker"):
        story.wait(name, Work.IDLE, Session.UP)
    if packed:
        story.git("pack-refs", "--all", cwd=story.root.path)
        assert not Path(story.root.git_dir, "refs/heads/llmc/adam").exists()
    first = commit_without_a_trace(story, "adam")
    assert story.wait("adam", Work.NEEDS_REVIEW).commit_sha == first
    story.git("pack-refs", "--all", cwd=story.root.path)
    second = commit_without_a_trace(story, "baker")
    assert story.wait("baker", Work.NEEDS_REVIEW).commit_sha == second


def test_commits_are_noticed_where_git_keeps_no_logs(story: Story) -> None:
    story.begin("adam", defaults__patrol_interval_secs="3600")
    story.git("config", "core.logAllRefUpdates", "false", cwd=story.root.path)
    story.up()
    story.wait("adam", Work.IDLE, Session.UP)
    sha = story.commit_as("adam", "a.txt", "x\n", "By hand")
    assert story.wait("adam", Work.NEEDS_REVIEW).commit_sha == sha
