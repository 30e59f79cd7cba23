"""Private tmux servers for tests: each test has its own, and none is left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmc.host.local import LocalHost
from llmc.host.processes import is_running
from llmc.tmux.configuration import configuration
from llmc.tmux.server import Tmux
from testing.waiting import wait_until

SOCKET = "llmc-test"
TMUX = shutil.which("tmux") or "tmux"
"""By its path: a test may have left a PATH that leads nowhere."""
SIZE = (120, 30)


@pytest.fixture
def private_tmux(tmp_path: Path) -> Iterator[Tmux]:
    """A running server of the test's own, configured as LLMC configures it, that ends with the test."""
    settings = tmp_path / "tmux.conf"
    settings.write_text(configuration(*SIZE))
    tmux = Tmux(LocalHost(), SOCKET)
    tmux.start(str(settings))
    try:
        yield tmux
    finally:
        end_servers(os.environ["TMUX_TMPDIR"])


def end_servers(directory: str) -> list[str]:
    """Ends every tmux server whose socket is under this TMUX_TMPDIR. The names of those that ran."""
    sockets = sorted(path for path in Path(directory).glob("tmux-*/*") if path.is_socket())
    return [path.name for path in sockets if _end(path)]


def _end(socket: Path) -> bool:
    pid = subprocess.run(
        [TMUX, "-S", str(socket), "display-message", "-p", "#{pid}"], capture_output=True, text=True, check=False
    ).stdout.strip()
    if not pid:
        return False
    subprocess.run([TMUX, "-S", str(socket), "kill-server"], capture_output=True, check=False)
    wait_until(lambda: not is_running(int(pid)))
    return True
