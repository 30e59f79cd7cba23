"""One root with all that belongs to it: who acts for a worker, and what its terminals say."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.errors import LlmcError
from llmc.host.locks import is_held
from llmc.host.processes import is_running
from llmc.site import Site
from llmc.store.ledger import UnknownWorkerError
from testing.story import Story, told_in


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    with told_in(tmp_path) as story:
        yield story.begin("adam", "baker")


def start(site: Site, session: str, *command: str) -> int:
    Path(site.root.tmux_configuration).write_text("set -g remain-on-exit on\nset -g exit-empty off\n")
    site.tmux.start(site.root.tmux_configuration)
    return site.tmux.new_session(session, "/", command, {}, (80, 24)).pid


def who_acts_for(story: Story, name: str) -> int | None:
    holder = is_held(story.root.worker_lock(name))
    return holder.pid if holder is not None else None


@pytest.mark.lesson(9, "one sender at a time for a terminal, across processes")
@pytest.mark.lesson(33, "one at a time rebases a worktree")
def test_one_at_a_time_acts_for_a_worker(story: Story) -> None:
    site = story.site
    with site.lock_of("adam"):
        assert who_acts_for(story, "adam") == os.getpid()
        assert who_acts_for(story, "baker") is None
        with site.lock_of("baker"):
            assert who_acts_for(story, "baker") == os.getpid()
    assert who_acts_for(story, "adam") is None


def test_threads_exclude_each_other_too(story: Story) -> None:
    order: list[str] = []
    site = story.site
    with site.lock_of("adam"):
        waiting = threading.Thread(target=lambda: _act(site, order))
        waiting.start()
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]


def _act(site: Site, order: list[str]) -> None:
    with site.lock_of("adam"):
        order.append("second")


def test_whoever_dies_no_longer_acts(story: Story) -> None:
    code = (
        "import os, sys\nfrom llmc.app import open_site\nfrom llmc.root import Root\n"
        "open_site(Root(sys.argv[1])).lock_of('adam').acquire()\nos.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, story.root.path], check=False).returncode == -9
    with story.site.lock_of("adam"):
        assert who_acts_for(story, "adam") == os.getpid()


def test_the_agent_is_the_one_that_the_worker_runs(story: Story) -> None:
    assert story.site.agent_of(story.worker("adam")).name == "demo"
    story.rewrite("adam", agent="of yesterday")
    with pytest.raises(LlmcError, match="no agent named 'of yesterday'"):
        story.site.agent_of(story.worker("adam"))


def test_a_worker_that_is_not_there_is_told(story: Story) -> None:
    with pytest.raises(UnknownWorkerError, match="no worker named 'eve'") as unknown:
        story.site.worker("eve")
    assert "adam, baker" in unknown.value.hint


def test_an_end_is_known_with_its_reason(story: Story) -> None:
    site = story.site
    for n in range(10):
        pid = start(site, f"s{n}", "sh", "-c", f"exit {n}")
        story.until(lambda pid=pid: not is_running(pid))
        pane = site.panes()[f"s{n}"]
        assert (pane.dead, pane.exit_code, pane.exit_signal) == (True, n, None)


def test_a_signal_is_known_too(story: Story) -> None:
    site = story.site
    pid = start(site, "s", "sh", "-c", "kill -9 $$")
    story.until(lambda: not is_running(pid))
    pane = site.panes()["s"]
    assert (pane.dead, pane.exit_code, pane.exit_signal) == (True, None, 9)


def test_who_runs_is_not_waited_for(story: Story) -> None:
    site = story.site
    pid = start(site, "s", "sleep", "1000")
    pane = site.panes()["s"]
    assert (pane.pid, pane.dead) == (pid, False)
    assert is_running(pid)


def test_without_a_server_there_is_nobody(story: Story) -> None:
    assert story.site.panes() == {}


def test_one_terminal_alone_is_told_of_like_all_of_them(story: Story) -> None:
    site = story.site
    assert site.pane_of("s") is None
    start(site, "s", "sh", "-c", "exit 3")
    start(site, "another", "sleep", "1000")
    story.until(lambda: (pane := site.pane_of("s")) and pane.exit_code == 3)
    assert site.pane_of("another") == site.panes()["another"]
    assert site.pane_of("nobody") is None
