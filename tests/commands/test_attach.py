"""`llmc attach` as a person uses it: at a plain terminal, only looking, and inside of a tmux of their own."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.attached import Person
from testing.commands import PROGRAM
from testing.story import Story
from testing.waiting import wait_until


@pytest.fixture
def running(story: Story) -> Story:
    story.begin("adam").up()
    return story


def attach(story: Story, *words: str) -> list[str]:
    return [str(PROGRAM), "--root", story.root.path, "attach", "adam", *words]


def test_the_keys_to_leave_are_told_and_work(running: Story) -> None:
    with Person(attach(running), os.environ) as person:
        wait_until(lambda: b"Ctrl-b d leaves" in person.shown)
        person.leaves()


@pytest.mark.parametrize("keys", ["q", "\x03", "\x02d"])
def test_who_only_looks_can_leave_and_types_nothing(running: Story, keys: str) -> None:
    with Person(attach(running, "--read-only"), os.environ) as person:
        wait_until(lambda: b"you only look" in person.shown)
        person.types("typed by an onlooker")
        person.leaves(keys)
    assert "typed by" not in running.screen("adam")


@pytest.fixture
def own_tmux(tmp_path: Path) -> Iterator[str]:
    """A person's own server, with one session."""
    socket = str(tmp_path / "own")
    subprocess.run(["tmux", "-f", "/dev/null", "-S", socket, "new-session", "-d", "-s", "mine", "sh"], check=True)
    yield socket
    subprocess.run(["tmux", "-S", socket, "kill-server"], check=False)


def in_own(socket: str, *words: str) -> str:
    return subprocess.run(["tmux", "-S", socket, *words], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("how", [[], ["--read-only"]], ids=["typing", "looking"])
def test_inside_of_tmux_the_client_goes_there_and_comes_back(running: Story, own_tmux: str, how: list[str]) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("TMUX")}
    env["TMUX_TMPDIR"] = os.environ["TMUX_TMPDIR"]
    with Person(["tmux", "-S", own_tmux, "attach-session", "-t", "mine"], env) as person:
        wait_until(lambda: in_own(own_tmux, "list-clients"))
        in_own(own_tmux, "send-keys", "-t", "mine", shlex.join(attach(running, *how)), "Enter")
        wait_until(lambda: b"leaves" in person.shown)
        assert in_own(own_tmux, "list-clients") == ""  # nothing is nested
        person.types("\x02d")
        wait_until(lambda: in_own(own_tmux, "list-clients"))
        wait_until(lambda: "and is back" in in_own(own_tmux, "capture-pane", "-p", "-t", "mine"))


def test_from_one_workers_terminal_to_anothers(story: Story) -> None:
    story.begin("adam", "baker").up()
    with Person(attach(story), os.environ) as person:
        wait_until(lambda: story.pane("adam").attached)
        inside = {**os.environ, "TMUX": f"{_socket(story)},1,0", "TMUX_PANE": story.pane("adam").id}
        words = [str(PROGRAM), "--root", story.root.path, "attach", "baker"]
        with Person(words, inside):
            wait_until(lambda: story.pane("baker").attached)
        assert not story.pane("adam").attached
        person.leaves()


def _socket(story: Story) -> str:
    words = ["tmux", "-L", story.root.tmux_socket, "display-message", "-p", "#{socket_path}"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
