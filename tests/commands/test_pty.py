"""Terminals without worktrees, end to end: inside a person's tmux, and outside of any."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from llmc.daemon import watcher
from llmc.host.base import Host
from llmc.host.local import LocalHost
from llmc.host.processes import is_running
from llmc.observe.pty_presence import Presence, look_for
from llmc.root import Root
from llmc.store.terminals import KnownTerminal, Terminals
from testing.desk import Desk, at_desk
from testing.endpoint import Answer, endpoint
from testing.roots import make_repository

BROKEN_PACK = """\
name = "shell"
processes = ["bash"]

[[cue]]
name = "prompt"
state = "READY"
when = [{ in = "last", regex = "(unclosed" }]
"""
KNOWS_NOTHING = BROKEN_PACK.replace("shell", "cat").replace("bash", "cat").replace("(unclosed", "never on it")

BUTLER = """\
name = "butler"

[[cue]]
name = "waits"
state = "READY"
when = [{ in = "last", regex = "at your service" }]
summary = "the butler waits"
"""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with at_desk(tmp_path / "home") as desk:
        yield desk


def windows(desk: Desk) -> set[str]:
    return set(desk.tmux("list-windows", "-a", "-F", "#{window_name}").splitlines())


def test_two_terminals_a_long_command_and_the_status_line(desk: Desk) -> None:
    """A real CLI (LLMC's own scripted agent) and bash; the status line says what each of them does."""
    before = desk.tmux("show-options", "-gv", "status-right")
    desk.llmc("pty", "create", ".", "--name", "agent", "--cli", "demo")
    desk.llmc("pty", "create", ".", "--name", "shop")
    desk.llmc("pty", "statusline", "install")
    desk.llmc("pty", "watch", "--detach", "--interval", "1")
    desk.until(lambda: "[agent: READY] [shop: READY]" in desk.look())

    desk.type("shop", "sleep 1000")
    desk.until(lambda: "[shop: BUSY]" in desk.look())
    desk.until(lambda: desk.status("shop")["summary"] == "sleep is running")
    desk.tmux("send-keys", "-t", desk.pane("shop"), "C-c")
    desk.until(lambda: "shop is ready" in desk.look())
    desk.until(lambda: "[shop: READY]" in desk.look())

    desk.type("agent", "demo:permit make")
    desk.until(lambda: "[agent: NEEDS_CONFIRMATION]" in desk.look())
    assert desk.status("agent")["source"] == "hook"
    assert [line.split()[2] for line in desk.llmc("pty", "tail", "shop").out.splitlines()] == ["READY", "BUSY", "READY"]

    desk.llmc("pty", "statusline", "remove")
    assert desk.tmux("show-options", "-gv", "status-right") == before
    assert "llmc" not in desk.tmux("show-options", "-g")


def test_a_terminal_is_opened_listed_switched_to_and_closed(desk: Desk) -> None:
    made = desk.json("pty", "create", ".")
    assert made["id"] == "home"
    assert desk.json("pty", "create", ".")["id"] == "home-2"
    assert windows(desk) >= {"home", "home-2"}
    listed = desk.json("pty", "list")["terminals"]
    assert [(each["id"], each["made_here"], each["dead"]) for each in listed] == [
        ("home", True, False),
        ("home-2", True, False),
    ]
    desk.llmc("pty", "switch", "home-2")
    assert desk.tmux("display-message", "-p", "-t", "=main:", "#{window_name}") == "home-2"
    others = windows(desk) - {"home-2"}
    desk.llmc("pty", "close", "home-2")
    assert windows(desk) == others
    assert not (desk.root / ".workers" / "home-2").exists()
    assert "no terminal named home-2" in desk.llmc("pty", "close", "home-2", code=1).err
    assert "no terminal named home-2" in desk.llmc("pty", "switch", "home-2", code=1).err


def test_a_window_of_somebody_else_is_adopted_and_never_closed(desk: Desk) -> None:
    desk.tmux("new-window", "-d", "-t", "=main:", "-n", "theirs")
    desk.llmc("pty", "adopt", "=main:theirs")
    assert "known as theirs already" in desk.llmc("pty", "adopt", "=main:theirs", "--name", "x", code=1).err
    assert "knows no window" in desk.llmc("pty", "adopt", "=main:nowhere", code=1).err
    desk.llmc("pty", "watch", "--once")
    assert desk.state("theirs") == "READY"
    desk.llmc("pty", "close", "theirs")
    assert "theirs" in windows(desk)
    assert desk.json("pty", "list")["terminals"] == []


def test_outside_of_tmux_terminals_live_on_a_server_of_their_own(desk: Desk) -> None:
    desk.outside = True
    before = windows(desk)
    made = desk.json("pty", "create", ".", "--name", "shop", "--command", "echo h; sleep 1000")
    assert windows(desk) == before
    desk.llmc("pty", "watch", "--once")
    desk.until(lambda: desk.llmc("pty", "watch", "--once") and desk.state("shop") == "BUSY")
    assert "not inside tmux" in desk.llmc("pty", "adopt", code=1).err
    assert "no terminal to show it in" in desk.llmc("pty", "switch", "shop", code=1).err
    desk.llmc("pty", "close", "shop")
    listed = subprocess.run(
        ["tmux", "-S", made["tmux_server"], "list-panes", "-a"], capture_output=True, text=True, check=False
    )
    assert made["tmux_pane"] not in listed.stdout


def test_an_agent_that_is_a_script_is_known_by_its_own_name(desk: Desk) -> None:
    """As those from npm are: tmux shows only the name of what runs the script."""
    script = desk.home / "codex"
    script.write_text("import time\nprint('\\x1b[2J\\x1b[H', end='', flush=True)\ntime.sleep(1000)\n")
    desk.llmc("pty", "create", ".", "--name", "shop", "--command", shlex.join([sys.executable, str(script)]))
    desk.until(lambda: desk.llmc("pty", "watch", "--once") and desk.status("shop")["cli_type"] == "codex")
    assert desk.status("shop")["pack"].startswith("codex@")


def test_what_goes_away_is_forgotten_with_its_files(desk: Desk) -> None:
    desk.llmc("pty", "watch", "--detach")
    desk.llmc("pty", "create", ".", "--name", "shop")
    desk.until(lambda: desk.state("shop") == "READY")
    desk.type("shop", "exit")
    desk.until(lambda: not (desk.root / ".workers" / "shop").exists())
    desk.until(lambda: desk.row("shop") == ("", ""))
    assert desk.json("pty", "status")["terminals"] == []


def test_what_is_closed_is_forgotten_everywhere_while_it_is_looked_at(desk: Desk) -> None:
    desk.llmc("pty", "watch", "--detach", "--interval", "0.1")
    desk.llmc("pty", "create", ".", "--name", "shop", "--command", "while :; do echo $RANDOM; sleep 0.05; done")
    desk.until(lambda: desk.row("shop")[0] == "BUSY")
    desk.llmc("pty", "close", "shop")
    desk.until(lambda: desk.row("shop") == ("", ""))
    assert not (desk.root / ".workers" / "shop").exists()
    desk.llmc("pty", "create", ".", "--name", "shop")
    desk.until(lambda: desk.row("shop")[0] == "READY")


def test_what_is_closed_between_two_looks_of_the_watcher_is_forgotten_too(desk: Desk, monkeypatch) -> None:
    """Its window went first, and its record while the watcher counted."""
    desk.llmc("pty", "create", ".", "--name", "shop")
    desk.llmc("pty", "watch", "--once")
    assert desk.row("shop")[0]
    desk.tmux("kill-pane", "-t", desk.pane("shop"))
    root = Root(str(desk.root))

    def look_and_lose(host: Host, terminals: Mapping[str, KnownTerminal]) -> Presence:
        found = look_for(host, terminals)
        Terminals(root).forget("shop")
        return found

    monkeypatch.setattr(watcher, "look_for", look_and_lose)
    watcher.Watcher(root, LocalHost(), watcher.Pace(), lambda _: None).look_once()
    assert desk.row("shop") == ("", "")


def test_a_terminal_of_the_same_name_is_not_forgotten_with_the_one_before(desk: Desk, monkeypatch) -> None:
    desk.llmc("pty", "create", ".", "--name", "shop")
    desk.llmc("pty", "watch", "--once")
    desk.tmux("kill-pane", "-t", desk.pane("shop"))
    root = Root(str(desk.root))

    def look_and_be_late(host: Host, terminals: Mapping[str, KnownTerminal]) -> Presence:
        found = look_for(host, terminals)
        desk.llmc("pty", "create", ".", "--name", "shop")
        return found

    monkeypatch.setattr(watcher, "look_for", look_and_be_late)
    watcher.Watcher(root, LocalHost(), watcher.Pace(), lambda _: None).look_once()
    assert [each["id"] for each in desk.json("pty", "list")["terminals"]] == ["shop"]


def test_the_status_line_is_drawn_when_a_worker_moves(desk: Desk) -> None:
    """tmux itself draws it never here: somebody has to tell it to."""
    desk.llmc("init", "--source", str(make_repository(desk.home / "source")), "--target", str(desk.root))
    desk.llmc("add", "w", "--agent", "demo")
    desk.tmux("set-option", "-g", "status-interval", "0")
    desk.llmc("pty", "statusline", "install")
    desk.llmc("up", "--detach")
    try:
        desk.until(lambda: "[w: READY]" in desk.look())
        desk.llmc("message", "w", "demo:permit make")
        desk.until(lambda: "[w: NEEDS_CONFIRMATION]" in desk.look())
    finally:
        desk.llmc("down", "--force")


def test_a_program_that_ended_says_how_until_it_is_closed(desk: Desk) -> None:
    desk.llmc("pty", "create", ".", "--name", "agent", "--cli", "demo")
    desk.llmc("pty", "watch", "--detach")
    desk.until(lambda: desk.state("agent") == "READY")
    desk.type("agent", "demo:crash 3")
    desk.until(lambda: desk.state("agent") == "EXITED")
    desk.until(lambda: "exit code 3" in desk.status("agent")["summary"])
    desk.llmc("pty", "close", "agent")
    assert "agent" not in windows(desk)


def test_a_second_watcher_is_refused_with_the_pid_of_the_first(desk: Desk) -> None:
    pid = desk.json("pty", "watch", "--detach")["pid"]
    for words in (("--detach",), ("--once",), ()):
        assert f"watched already (pid {pid})" in desk.llmc("pty", "watch", *words, code=1).err
    assert desk.json("pty", "status")["watcher"] == {"running": True, "pid": pid}
    os.kill(pid, signal.SIGKILL)
    desk.until(lambda: not is_running(pid))
    assert desk.json("pty", "watch", "--detach")["pid"] != pid
    desk.llmc("pty", "watch", "--stop")
    assert "no watcher runs" in desk.llmc("pty", "watch", "--stop", code=1).err


def test_of_two_watchers_that_start_at_once_one_is_refused(desk: Desk) -> None:
    with ThreadPoolExecutor(2) as both:
        said = list(both.map(lambda _: desk.try_llmc("pty", "watch", "--detach"), range(2)))
    assert sorted(each.code for each in said) == [0, 1]
    pid = desk.json("pty", "status")["watcher"]["pid"]
    refused = next(each for each in said if each.code)
    assert f"watched already (pid {pid})" in refused.err
    assert f"pid {pid}" in next(each for each in said if not each.code).out


def test_two_roots_watch_the_same_server_and_leave_each_other_alone(desk: Desk) -> None:
    source = make_repository(desk.home / "source")
    desk.llmc("init", "--source", str(source), "--target", str(desk.home / "other"))
    other = ("--root", str(desk.home / "other"))
    for root in ((), other):
        desk.llmc(*root, "pty", "create", ".", "--name", "shop" if root else "home")
        desk.llmc(*root, "pty", "watch", "--detach", "--interval", "0.2")
    try:
        desk.llmc("pty", "statusline", "install")
        desk.until(lambda: "[home: READY]" in desk.look())
        assert "in place of" in desk.llmc(*other, "pty", "statusline", "install").out
        desk.until(lambda: "[shop: READY]" in desk.look() and "[home:" not in desk.look())
        assert [each["id"] for each in desk.json("pty", "list")["terminals"]] == ["home"]
        desk.llmc("pty", "close", "home")
        desk.llmc("pty", "watch", "--stop")
        desk.tmux("send-keys", "-t", "=main:shop", "sleep 1000", "Enter")
        desk.until(lambda: "[shop: BUSY]" in desk.look())
        desk.llmc("pty", "statusline", "remove")
        assert "llmc" not in desk.tmux("show-options", "-g")
    finally:
        desk.llmc(*other, "pty", "watch", "--stop")


def test_the_watcher_goes_on_when_a_server_vanishes_and_says_nothing_twice(desk: Desk) -> None:
    desk.llmc("pty", "create", ".", "--name", "shop")
    pid = desk.json("pty", "watch", "--detach", "--interval", "0.1")["pid"]
    desk.until(lambda: desk.state("shop"))
    desk.outside = True
    desk.json("pty", "create", ".", "--name", "other")
    desk.until(lambda: desk.state("other"))
    os.kill(int(desk.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
    desk.until(lambda: not (desk.root / ".workers" / "shop").exists())
    assert is_running(pid)
    assert desk.state("other")
    assert len(desk.log().splitlines()) <= 1


def test_a_locked_database_and_a_bad_screen_are_survived(desk: Desk) -> None:
    desk.llmc("pty", "create", ".", "--name", "shop")
    pid = desk.json("pty", "watch", "--detach", "--interval", "0.2")["pid"]
    desk.until(lambda: desk.state("shop") == "READY")
    other = sqlite3.connect(desk.root / ".workers" / "status.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    desk.type("shop", "printf '\\377\\376 \\033]2;\\t\\377\\033\\\\'; sleep 1000")
    desk.until(lambda: desk.state("shop") == "BUSY")
    desk.until(lambda: "locked" in desk.log())
    other.execute("ROLLBACK")
    other.close()
    desk.tmux("resize-window", "-t", desk.pane("shop"), "-x", "1", "-y", "1")
    desk.tmux("send-keys", "-t", desk.pane("shop"), "C-c")
    desk.until(lambda: desk.tmux("display-message", "-p", "-t", desk.pane("shop"), "#{pane_current_command}") == "bash")
    before = desk.status("shop")["last_change_unix"]
    desk.type("shop", "echo again")
    desk.until(lambda: desk.status("shop")["last_change_unix"] > before)
    assert is_running(pid)
    assert len([line for line in desk.log().splitlines() if "locked" in line]) == 1


def test_a_broken_pack_is_told_once_and_the_built_in_one_holds(desk: Desk) -> None:
    packs = desk.root / "packs"
    packs.mkdir(parents=True)
    (packs / "shell.toml").write_text(BROKEN_PACK)
    desk.llmc("pty", "create", ".", "--name", "shop")
    desk.llmc("pty", "watch", "--detach", "--interval", "0.1")
    desk.until(lambda: desk.state("shop") == "READY")
    desk.type("shop", "sleep 1000")
    desk.until(lambda: desk.state("shop") == "BUSY")
    (packs / "shell.toml").write_text(BROKEN_PACK + "\n")
    assert "shell.toml:7" in desk.llmc("pty", "classify", "--cli", "shell", ".bashrc", code=1).err
    (packs / "other.toml").write_text("name = ")
    desk.until(lambda: len(desk.complaints()) == 2)
    first, second = desk.complaints()
    assert "shell.toml:7" in first
    assert "unclosed" in first or "unterminated" in first
    assert "other.toml" in second


def test_the_pack_that_the_settings_name_for_a_program_is_used(desk: Desk) -> None:
    desk.llmc("init", "--source", str(make_repository(desk.home / "source")), "--target", str(desk.root))
    with open(desk.root / "config.toml", "a", encoding="utf-8") as config:
        config.write('[agents.mine]\ncommand = ["sh", "-c", "echo at your service; exec cat"]\npack = "butler"\n')
        config.write('[agents.yours]\ncommand = ["sh", "-c", "echo at your service; exec cat"]\n')
    (desk.root / "packs").mkdir()
    (desk.root / "packs" / "butler.toml").write_text(BUTLER)
    (desk.root / "packs" / "yours.toml").write_text(BUTLER.replace("butler", "yours"))
    desk.llmc("pty", "create", ".", "--name", "one", "--cli", "mine")
    desk.llmc("pty", "create", ".", "--name", "other", "--cli", "yours")
    desk.llmc("pty", "watch", "--detach", "--interval", "0.2")
    desk.until(lambda: desk.status("one").get("summary") == "the butler waits")
    assert desk.status("one")["pack"] == "butler"
    desk.until(lambda: desk.status("other").get("pack") == "yours")


def test_a_screen_of_a_megabyte_is_survived(desk: Desk) -> None:
    """The largest terminal that somebody could want, full of letters that take three bytes each."""
    desk.llmc("pty", "create", ".", "--name", "shop")
    desk.tmux("resize-window", "-t", desk.pane("shop"), "-x", "1000", "-y", "400")
    pid = desk.json("pty", "watch", "--detach", "--interval", "0.2")["pid"]
    desk.until(lambda: desk.state("shop") == "READY")
    desk.type("shop", "clear; python3 -c 'print(chr(0x2588) * 399_000)'; sleep 1000")
    desk.until(lambda: desk.status("shop")["summary"] == "sleep is running")
    assert len(desk.tmux("capture-pane", "-p", "-t", desk.pane("shop")).encode()) > 1_000_000
    desk.tmux("send-keys", "-t", desk.pane("shop"), "C-c")
    desk.until(lambda: desk.state("shop") == "READY")
    assert is_running(pid)
    assert desk.complaints() == []


WAITS = Answer(
    body=json.dumps(
        {
            "choices": [
                {
                    "message": {
                        "content": json.dumps(
                            {"state": "NEEDS_CONFIRMATION", "summary": "it reads", "actions_needed": ["type"]}
                        )
                    }
                }
            ]
        }
    ).encode()
)


def test_a_program_that_is_silent_for_long_is_asked_about(desk: Desk) -> None:
    """Nothing but the process in the foreground says that it is at work: it may wait for somebody to type."""
    with endpoint(WAITS) as model:
        desk.llmc("init", "--source", str(make_repository(desk.home / "source")), "--target", str(desk.root))
        desk.llmc("pty", "create", ".", "--name", "shop")
        desk.llmc("pty", "watch", "--detach", "--interval", "0.2")
        desk.until(lambda: desk.state("shop") == "READY")
        desk.type("shop", "cat")
        desk.until(lambda: desk.status("shop")["summary"] == "cat is running")
        desk.until(lambda: "cat is running, without output for " in desk.status("shop")["summary"])
        assert (desk.state("shop"), desk.status("shop")["confidence"]) == ("BUSY", 0.4)

        (desk.root / ".env").write_text("OPENROUTER_API_KEY=k\n")
        desk.llmc("config", "set", "classifier.base_url", model.address)
        desk.llmc("config", "set", "classifier.model", "some/model")
        desk.until(lambda: desk.state("shop") == "NEEDS_CONFIRMATION")
        assert (desk.status("shop")["summary"], desk.status("shop")["source"]) == ("it reads", "model")


def test_endpoints_that_hang_hold_nothing_up_and_are_told_once(desk: Desk) -> None:
    with endpoint(Answer(hangs=True)) as model, endpoint(Answer(hangs=True)) as webhook:
        desk.llmc("init", "--source", str(make_repository(desk.home / "source")), "--target", str(desk.root))
        for key, value in (
            ("classifier.model", "some/model"),
            ("classifier.base_url", model.address),
            ("classifier.timeout_secs", "1"),
            ("notify.webhook", webhook.address),
        ):
            desk.llmc("config", "set", key, value)
        (desk.root / ".env").write_text("OPENROUTER_API_KEY=k\n")
        (desk.root / "packs").mkdir()
        (desk.root / "packs" / "cat.toml").write_text(KNOWS_NOTHING)
        desk.llmc("pty", "create", ".", "--name", "odd", "--cli", "cat")
        desk.llmc("pty", "create", ".", "--name", "shop")
        desk.llmc("pty", "watch", "--detach", "--interval", "0.2")
        desk.until(lambda: model.heard)
        for _ in range(2):
            desk.type("shop", "sleep 1000")
            desk.until(lambda: desk.status("shop")["summary"] == "sleep is running")
            desk.tmux("send-keys", "-t", desk.pane("shop"), "C-c")
            desk.until(lambda: desk.state("shop") == "READY")
        desk.until(lambda: len(desk.complaints()) >= 2)
        assert sorted(set(desk.complaints())) == sorted(desk.complaints())
        assert desk.state("odd") == "UNKNOWN"


@pytest.mark.parametrize("name", ["a b", "../x", "", "a;b", "x" * 50])
def test_bad_names_are_refused_and_open_nothing(desk: Desk, name: str) -> None:
    before = windows(desk)
    assert "cannot be a terminal's name" in desk.llmc("pty", "create", ".", "--name", name, code=2).err
    assert windows(desk) == before
    assert "is not a directory" in desk.llmc("pty", "create", "nowhere", code=1).err
    assert "is not installed" in desk.llmc("pty", "create", ".", "--cli", "no-such-program", code=1).err
    assert windows(desk) == before
    assert desk.json("pty", "list")["terminals"] == []
