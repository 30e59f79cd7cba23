"""`llmc down` where it is hard: programs that agents leave behind, full and read-only disks, a damaged state."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from llmc.app import open_site
from llmc.cli.main import main
from llmc.core.lifecycle import events as ev
from llmc.host.processes import is_running, marked_processes
from llmc.model import Session
from llmc.perform.steps import decide_and_run
from testing.damage import adam as adam
from testing.damage import root as root
from testing.damage import source as source
from testing.disks import FULL, READ_ONLY, llmc_on_disk
from testing.roots import own_tmux
from testing.story import end_abruptly, told_in
from testing.waiting import wait_until


def run(root, *words):
    return main(["--root", root.path, *words])


@pytest.fixture
def up(root, adam):
    """Adam's shell runs."""
    site = open_site(root)
    with own_tmux(root), site.ledger.events:
        with site.lock_of("adam"):
            decide_and_run(site, "adam", ev.StartAsked(site.now()))
        assert site.worker("adam").session is Session.UP
        yield site


def pane_pid(site):
    return site.tmux.panes()["llmc-adam"].pid


def leave_behind(site):
    """A program of adam's agent that is in nobody's family any more; it does not listen to TERM."""
    pane = site.tmux.panes()["llmc-adam"]
    program = "trap '' TERM HUP; while :; do sleep 1; done"
    site.tmux.type_text(pane.id, f'setsid -f bash -c "{program}" >/dev/null 2>&1 </dev/null')
    site.tmux.press(pane.id, "Enter")

    def found():
        marked = marked_processes(LLMC_ROOT=site.root.path, LLMC_WORKER="adam")
        with suppress(ProcessLookupError):  # the `setsid` that starts it has ended meanwhile
            return [each.pid for each in marked if "trap" in each.command and os.getsid(each.pid) == each.pid]
        return []

    return wait_until(found)[0]


@pytest.mark.lesson(36, "a process tree is ended whole, adopted children included")
@pytest.mark.parametrize("words", [("down", "--force"), ("nuke", "adam", "--yes")])
def test_what_a_crashed_agent_left_behind_ends_too(up, root, words, capsys):
    stray = leave_behind(up)
    os.kill(pane_pid(up), signal.SIGKILL)
    wait_until(lambda: up.panes()["llmc-adam"].dead)
    assert is_running(stray)
    assert run(root, *words) == 0, capsys.readouterr()
    assert not is_running(stray)


def test_the_doctor_finds_what_a_crashed_agent_left_behind(up, root, capsys):
    stray = leave_behind(up)
    os.kill(pane_pid(up), signal.SIGKILL)
    wait_until(lambda: up.panes()["llmc-adam"].dead)
    capsys.readouterr()
    run(root, "doctor", "--json")
    found = [each for each in json.loads(capsys.readouterr().out)["findings"] if each["code"] == "process-stray"]
    assert str(stray) in found[0]["repair"]
    assert run(root, "doctor", "--repair", "--yes") == 0
    assert not is_running(stray)


def test_a_command_that_an_agent_runs_spares_itself(up, root):
    """Whoever asks is of adam's agent too."""
    env = {**os.environ, "LLMC_ROOT": root.path, "LLMC_WORKER": "adam"}
    done = subprocess.run([sys.executable, "-m", "llmc.cli.main", "down", "--force"], env=env, check=False)
    assert done.returncode == 0


def test_a_damaged_state(up, root, capsys):
    pid = pane_pid(up)
    Path(root.path, "state.json").write_text("{")
    assert run(root, "down") == 1
    assert "llmc down --force" in capsys.readouterr().err
    assert is_running(pid)
    assert run(root, "down", "--force") == 0
    assert not is_running(pid)


@pytest.mark.parametrize("disk", [FULL, READ_ONLY], ids=["full", "read-only"])
def test_agents_end_even_if_nothing_can_be_written(up, root, tmp_path, disk):
    pid = pane_pid(up)
    done = llmc_on_disk(disk, root.path, tmp_path, "down", "--force")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert "could not be written down" in done.stdout
    assert not is_running(pid)


@pytest.mark.parametrize("disk", [FULL, READ_ONLY], ids=["full", "read-only"])
@pytest.mark.parametrize("open_log", [False, True], ids=["closed", "in use"])
def test_events_can_be_read_all_the_same(root, adam, tmp_path, disk, open_log):
    site = open_site(root)
    with site.ledger.events:
        site.ledger.note("adam", 1.0, "told", "the last thing")
        if open_log:
            done = llmc_on_disk(disk, root.path, tmp_path, "events")
    if not open_log:
        done = llmc_on_disk(disk, root.path, tmp_path, "events")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert "the last thing" in done.stdout


def shown_terminals(story):
    return {each["id"]: each["state"] for each in story.json("pty", "status")["terminals"]}


def test_nobody_is_said_to_be_ready_after_down(tmp_path):
    with told_in(tmp_path) as story:
        story.begin("adam").up()
        story.until(lambda: shown_terminals(story) == {"adam": "READY"})
        story.llmc("down")
        assert shown_terminals(story) == {}
        assert "READY" not in story.llmc("pty", "status").out
        assert not os.path.exists(story.root.terminal("adam"))


def test_nobody_is_said_to_be_ready_when_tmux_and_the_daemon_are_gone(tmp_path):
    """A reboot: nobody was there to clear away what the daemon saw last, and the next one finds it."""
    with told_in(tmp_path) as story:
        story.begin("adam").up()
        story.until(lambda: shown_terminals(story) == {"adam": "READY"})
        server = story.pane("adam").server_pid
        end_abruptly(story.daemon())
        assert shown_terminals(story) == {"adam": "READY"}
        end_abruptly(server)
        story.until(lambda: shown_terminals(story) == {})

        story.llmc("config", "set", "agents.demo.command", '["false"]')
        story.llmc("up", "--detach", code=1)
        assert "READY" not in shown_terminals(story).values()
        story.until(lambda: shown_terminals(story) == {})  # the daemon has seen the one that ended at once
