"""One daemon for each root, whoever asks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from llmc.daemon.process import DaemonRunsError, daemon_lock, refuse_second, running_daemon
from llmc.root import Root


@pytest.fixture
def root(tmp_path: Path) -> Root:
    (tmp_path / "run").mkdir()
    return Root(str(tmp_path))


def elsewhere(root: Root, code: str) -> int:
    """The exit code of another process that does this."""
    names = (
        "import os, sys, time\n"
        "from llmc.daemon.process import daemon_lock\n"
        "from llmc.root import Root\n"
        "from llmc.host.locks import LockTimeoutError\n"
        "root = Root(sys.argv[1])\n"
    )
    return subprocess.run([sys.executable, "-c", names + code, root.path], check=False).returncode


def test_nobody_runs_at_first(root: Root) -> None:
    refuse_second(root)
    assert running_daemon(root) is None


def test_the_one_that_runs_is_known_by_its_pid(root: Root) -> None:
    with daemon_lock(root):
        holder = running_daemon(root)
        assert holder is not None
        assert holder.pid == os.getpid()
        with pytest.raises(DaemonRunsError, match=rf"runs already \(pid {os.getpid()}\)") as refused:
            refuse_second(root)
        assert "llmc down" in refused.value.hint
    assert running_daemon(root) is None


def test_a_process_that_died_holds_nothing(root: Root) -> None:
    assert elsewhere(root, "daemon_lock(root).acquire(); os._exit(0)") == 0
    assert Path(root.daemon_lock).read_text() != "", "its name is still there"
    assert running_daemon(root) is None
    refuse_second(root)


def test_one_that_was_killed_is_waited_for_until_the_last_part_of_it_has_let_go(root: Root) -> None:
    """Its threads, and a child that it was just starting, end later than the process itself."""
    child_goes_on = "daemon_lock(root).acquire()\nif os.fork(): os._exit(0)\ntime.sleep(1)"
    assert elsewhere(root, child_goes_on) == 0
    assert running_daemon(root) is None
    refuse_second(root)
    with daemon_lock(root):
        pass


def test_two_that_start_at_once_do_not_both_run(root: Root) -> None:
    take_it = "try:\n    daemon_lock(root).acquire()\nexcept LockTimeoutError:\n    sys.exit(7)"
    with daemon_lock(root):
        assert elsewhere(root, take_it) == 7
    assert elsewhere(root, take_it) == 0


def test_each_root_has_its_own(root: Root, tmp_path: Path) -> None:
    (tmp_path / "other" / "run").mkdir(parents=True)
    with daemon_lock(root):
        refuse_second(Root(str(tmp_path / "other")))
        assert running_daemon(root) is not None
