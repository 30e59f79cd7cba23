"""Setting up worktrees: before the agent is started, once, with all that can go wrong on the way."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from llmc.host.processes import is_running
from llmc.model import Session, Turn, Work
from llmc.perform.worker_variables import FIRST_PORT, PORTS
from testing.story import Story, end_abruptly, told_in
from testing.waiting import wait_until


def agents_variables(story: Story, name: str = "adam") -> dict[str, str]:
    entries = Path(f"/proc/{story.pane(name).pid}/environ").read_bytes().decode().split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def times(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.mark.lesson(60, "every new worktree is set up before its agent begins")
def test_the_agent_finds_what_the_setup_made(story: Story) -> None:
    story.begin(repo__setup='["mkdir -p deps", "echo ready > deps/lib"]')
    story.commit_upstream(".gitignore", "deps\n", "Ignore deps")
    added = story.llmc("add", "adam", "--agent", "demo")
    assert "its worktree is set up first" in added.out
    story.up()
    worker = story.wait("adam", Work.IDLE, Session.UP)
    assert worker.set_up
    story.work("adam", "append deps/lib and used", "write a.txt x", "commit Add a")
    assert Path(worker.worktree_path, "deps/lib").read_text() == "ready\nand used\n"
    assert next(event.detail for event in story.events("adam", "setup")) == "mkdir -p deps"
    assert len(story.events("adam", "setup.done")) == 1


def test_a_success_is_never_run_again(story: Story, tmp_path: Path) -> None:
    story.begin("adam", repo__setup=f'["echo once >> {tmp_path}/log"]')
    for _ in range(2):
        story.llmc("restart", "adam")
    story.llmc("down")
    story.up()
    story.wait("adam", Work.IDLE, Session.UP)
    assert times(tmp_path / "log") == 1


@pytest.mark.lesson(60, "every new worktree is set up before its agent begins")
def test_a_failure_is_told_and_restart_goes_on_after_the_repair(story: Story, tmp_path: Path) -> None:
    setup = f'["echo first", "cat {tmp_path}/wanted || {{ echo no such thing >&2; exit 3; }}", "echo > {tmp_path}/end"]'
    story.begin("adam", repo__setup=setup)
    assert "its worktree was not set up" in story.llmc("up", "--detach", code=1).out
    worker = story.worker("adam")
    assert (worker.work, worker.session, worker.set_up, worker.pending) == (Work.ERROR, Session.CRASHED, False, ())
    status = story.json("status")["workers"][0]
    assert status["status"] == "error"
    assert "failed with exit code 3" in status["evidence"]["detail"]
    assert "no such thing" in status["evidence"]["detail"]
    assert "adam" not in [pane.session for pane in story.site.tmux.panes().values()]
    lines = story.llmc("logs", "adam", "--setup").out.splitlines()
    assert lines[:2] == ["$ echo first", "first"]
    assert "no such thing" in lines
    assert story.json("logs", "adam", "--setup")[1] == {"text": "first"}
    assert "llmc logs adam --setup" in story.llmc("explain", "adam").out
    assert "setup-failed" in story.llmc("doctor", code=1).out
    again = story.llmc("restart", "adam", code=1)
    assert "no such thing" in again.err
    assert "llmc restart adam" in again.err
    assert not (tmp_path / "end").exists()
    (tmp_path / "wanted").write_text("here\n")
    story.llmc("restart", "adam")
    worker = story.wait("adam", Work.IDLE, Session.UP)
    assert worker.set_up
    assert (tmp_path / "end").exists()


def test_who_waits_sees_how_far_it_is(story: Story, tmp_path: Path) -> None:
    wait = f"echo half of it; until test -e {tmp_path}/go; do sleep 0.1; done"
    story.begin("adam", repo__setup=f'["{wait}"]')
    told = story.place / "spawned.log"
    up = story.spawn("up", "--detach")
    story.until(lambda: f"adam: setup: {wait}" in told.read_text())
    assert "sets up its worktree: echo half of it" in story.llmc("status").out
    assert "its agent is started when that has succeeded" in story.llmc("explain", "adam").out
    story.spawn("logs", "adam", "--setup", "--follow")
    story.until(lambda: "\nhalf of it\n" in told.read_text())
    (tmp_path / "go").touch()
    story.until(lambda: "adam: idle" in told.read_text())
    assert up.wait(120) == 0


def test_whoever_is_killed_in_the_middle_has_it_begun_again(story: Story, tmp_path: Path) -> None:
    hangs = f"test -e {tmp_path}/second || {{ touch {tmp_path}/second; sleep 1000; }}"
    first = f"echo x >> README; echo $$ >> {tmp_path}/log; {hangs}"
    story.begin("adam", repo__setup=f'["{first}"]')
    story.spawn_cold("up", "--no-patrol")
    story.until((tmp_path / "second").exists)
    end_abruptly(story.daemon())
    left = int((tmp_path / "log").read_text())
    assert is_running(left)
    story.up()
    worker = story.wait("adam", Work.IDLE, Session.UP)
    assert worker.set_up
    assert times(tmp_path / "log") == 2
    wait_until(lambda: not is_running(left))
    assert story.git("status", "--porcelain", cwd=worker.worktree_path) == ""


def test_a_daemon_that_ends_takes_the_setup_with_it(story: Story, tmp_path: Path) -> None:
    story.begin("adam", repo__setup=f'["sleep 1000 & echo $! > {tmp_path}/pid; wait"]')
    daemon = story.spawn_cold("up", "--no-patrol")
    story.until(lambda: times(tmp_path / "pid"))
    assert story.json("status")["workers"][0]["evidence"]["signal"] == "setup"
    os.kill(daemon.pid, signal.SIGTERM)
    daemon.wait(120)
    wait_until(lambda: not is_running(int((tmp_path / "pid").read_text())))
    assert not story.worker("adam").set_up
    assert story.worker("adam").work is Work.IDLE


def test_a_setup_that_hangs_is_ended_with_its_children(story: Story, tmp_path: Path) -> None:
    setup = f'["sleep 1000 & echo $! > {tmp_path}/pid; wait"]'
    story.begin("adam", repo__setup=setup, repo__setup_timeout_secs="0.5")
    said = story.llmc("restart", "adam", code=1)
    assert "did not end within" in said.err
    assert "setup_timeout_secs" in said.err
    wait_until(lambda: not is_running(int((tmp_path / "pid").read_text())))


def test_what_it_leaves_running_and_floods_of_output_do_no_harm(story: Story, tmp_path: Path) -> None:
    flood = f"{{ yes flood | head -c 40000000; echo end of it; }} ; sleep 1000 & echo $! > {tmp_path}/pid"
    story.begin("adam", repo__setup=f'["{flood}", "echo changed > README"]')
    story.llmc("restart", "adam")
    assert story.wait("adam", Work.IDLE, Session.UP).set_up
    assert Path(story.root.setup_logs, "adam.log").stat().st_size < 50_000_000
    assert "end of it" in story.llmc("logs", "adam", "--setup").out
    wait_until(lambda: not is_running(int((tmp_path / "pid").read_text())))
    (told,) = story.events("adam", "setup.done")
    assert "put back: README" in told.detail
    assert "setup" in story.llmc("undo", "--list").out
    story.task("adam", "write a.txt x", "commit Add a")
    story.look_until("adam", lambda: story.worker("adam").work is Work.NEEDS_REVIEW)
    assert story.git("show", "--format=", "--name-only", "llmc/adam", cwd=story.root.path) == "a.txt"


def test_work_that_was_there_before_is_left_alone(story: Story) -> None:
    """A worker that was added before anybody wrote a setup."""
    story.begin("adam")
    worktree = Path(story.worker("adam").worktree_path)
    (worktree / "draft").write_text("mine\n")
    story.llmc("config", "set", "repo.setup", '["echo changed > README"]')
    story.llmc("restart", "adam")
    assert story.worker("adam").set_up
    assert story.git("status", "--porcelain", cwd=str(worktree)).split() == ["M", "README", "??", "draft"]


def test_a_worktree_that_is_made_again_is_set_up_again(story: Story, tmp_path: Path) -> None:
    story.begin("adam", repo__setup=f'["echo once >> {tmp_path}/log"]')
    story.llmc("restart", "adam")
    story.llmc("down")
    story.git("worktree", "remove", "--force", story.worker("adam").worktree_path, cwd=story.root.path)
    story.llmc("doctor", "--repair", "--yes")
    assert not story.worker("adam").set_up
    story.llmc("restart", "adam")
    assert times(tmp_path / "log") == 2


def test_others_are_looked_after_while_many_are_set_up(story: Story, tmp_path: Path) -> None:
    names = ("bea", "cal", "dan", "eve")
    story.begin("adam")
    story.llmc("up", "--detach")
    wait = f"until test -e {tmp_path}/go; do sleep 0.1; done"
    story.llmc("config", "set", "repo.setup", f'["test $LLMC_WORKER = adam || {{ {wait}; }}"]')
    for name in names:
        story.llmc("add", name, "--agent", "demo")
    story.until(lambda: all(story.worker(name).evidence.signal == "setup" for name in names))
    story.work("adam", "write a.txt x", "commit Add a")
    (tmp_path / "go").touch()
    for name in names:
        story.wait(name, Work.IDLE, Session.UP)


@pytest.mark.lesson(60, "every new worktree is set up before its agent begins")
def test_variables_and_ports_are_everywhere(story: Story, tmp_path: Path) -> None:
    tell = "echo $COLOUR $LLMC_PORT $LLMC_PORT_2 $LLMC_PORT_3 >> "
    story.begin(
        "adam",
        "bea",
        repo__env='{ COLOUR = "blue" }',
        repo__ports="2",
        repo__setup=f'["{tell} {tmp_path}/setup"]',
        repo__validate=f'["{tell} {tmp_path}/check"]',
    )
    story.llmc("restart", "--all")
    first = story.worker("adam").ports
    assert len({*first, *story.worker("bea").ports}) == 4
    assert all(FIRST_PORT <= port < FIRST_PORT + PORTS for port in first)
    expected = f"blue {first[0]} {first[1]}"
    assert (tmp_path / "setup").read_text().splitlines()[0] == expected
    variables = agents_variables(story)
    assert f"{variables['COLOUR']} {variables['LLMC_PORT']} {variables['LLMC_PORT_2']}" == expected
    sha = story.commit_as("adam", "a.txt", "x\n", "Add a")
    story.rewrite("adam", work=Work.NEEDS_REVIEW, commit_sha=sha, turn=Turn.OVER)
    story.llmc("accept", "adam")
    colour, *ports = (tmp_path / "check").read_text().split()
    assert (colour, len(ports)) == ("blue", 2)
    assert not {*map(int, ports)} & {*first, *story.worker("bea").ports}  # they are checked beside their agents
    story.llmc("restart", "adam")
    assert story.worker("adam").ports == first
    story.llmc("config", "set", "repo.ports", "3")
    story.llmc("restart", "adam")
    assert story.worker("adam").ports[:2] == first
    assert agents_variables(story)["LLMC_PORT_3"] == str(story.worker("adam").ports[2])


def test_ports_of_other_roots_and_programs_are_left_to_them(story: Story, tmp_path: Path) -> None:
    story.begin("adam", repo__ports="2")
    story.llmc("restart", "adam")
    taken = story.worker("adam").ports
    with told_in(tmp_path / "other") as other:
        other.begin("adam", repo__ports="1")
        other.rewrite("adam", ports=())
        with socket.create_server(("127.0.0.1", 0)):
            other.llmc("restart", "adam")
        assert not {*other.worker("adam").ports} & {*taken}
    story.llmc("down")
    story.rewrite("adam", ports=())
    with socket.create_server(("127.0.0.1", taken[0])):
        story.llmc("restart", "adam")
    assert taken[0] not in story.worker("adam").ports


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("repo.env", '{ LLMC_PORT = "1" }', "LLMC's own"),
        ("repo.env", '{ "a-b" = "1" }', "environment variables"),
        ("repo.env", "{ A = 1 }", "string values"),
        ("repo.ports", "21", "from 0 to 20"),
        ("repo.setup", '[""]', "none of them empty"),
        ("repo.setup_timeout_secs", "0", "seconds above 0"),
        ("repo.submodules", "maybe", "true or false"),
    ],
)
def test_settings_that_make_no_sense_are_refused(story: Story, key: str, value: str, words: str) -> None:
    story.begin()
    assert words in story.llmc("config", "set", key, value, code=2).err


def test_each_worktree_gets_what_the_repositorys_own_list_names(story: Story) -> None:
    story.begin()
    story.commit_upstream(".gitignore", ".env\n", "Ignore the secrets")
    story.commit_upstream(".worktreeinclude", ".env\n", "Name what a worktree needs")
    (story.repository / ".env").write_text("secret\n")
    story.llmc("add", "adam", "--agent", "demo")
    assert Path(story.worker("adam").worktree_path, ".env").read_text() == "secret\n"
