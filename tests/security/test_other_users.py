"""Another user of the same machine sees nothing, and can tell the agents nothing."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from testing.story import Story

OTHERS = stat.S_IRWXG | stat.S_IRWXO


@pytest.fixture
def careless_user() -> object:
    """Files are for everybody unless a program says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def _open_to_others(directory: Path) -> bool:
    return bool(directory.stat().st_mode & OTHERS)


@pytest.mark.usefixtures("careless_user")
def test_the_root_is_for_its_owner_alone(story: Story) -> None:
    story.begin("adam").up()
    assert not _open_to_others(Path(story.root.path))


@pytest.mark.usefixtures("careless_user")
def test_a_directory_that_was_there_before_is_closed(story: Story) -> None:
    Path(story.root.path).mkdir(parents=True)
    assert _open_to_others(Path(story.root.path))
    story.begin("adam")
    assert not _open_to_others(Path(story.root.path))


@pytest.mark.usefixtures("careless_user")
def test_the_terminals_are_for_their_owner_alone(story: Story) -> None:
    story.begin("adam").up()
    sockets = [path for path in Path(os.environ["TMUX_TMPDIR"]).glob("tmux-*/*") if path.is_socket()]
    assert len(sockets) == 1
    assert not _open_to_others(sockets[0].parent)


@pytest.mark.usefixtures("careless_user")
def test_what_agents_report_and_what_they_are_told_is_private_by_itself(story: Story) -> None:
    """Even in a root that somebody opened by hand."""
    story.begin("adam").up()
    story.work("adam", "write a.txt secret", "commit Add a")
    private = (story.root.spool("adam"), story.root.logs, f"{story.root.path}/state.json", story.root.event_log)
    assert [path for path in private if _open_to_others(Path(path))] == []
