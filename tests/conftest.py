"""No test can reach the settings, the repositories or the terminals of whoever runs it."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings

from testing.story import Story, told_in
from testing.terminals import end_servers
from testing.terminals import private_tmux as private_tmux

# How long one example takes says more about the machine than about the code.
settings.register_profile("llmc", deadline=None)
settings.load_profile("llmc")

MEMORY = Path("/dev/shm")
ROOM_BYTES = 2 << 30
FOREIGN = ("GIT_", "LLMC_", "TMUX", "XDG_", "CLAUDE", "CODEX", "GEMINI", "OPENCODE")
GIT_SETTINGS = """\
[user]
    name = Tess Ter
    email = tess@example.com
[init]
    defaultBranch = main
[gc]
    auto = 0
"""


def pytest_configure() -> None:
    _heed_interrupts()
    _work_in_memory()


def _heed_interrupts() -> None:
    """Who starts the tests in the background has them, and all that they start, ignore Ctrl-C."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _work_in_memory() -> None:
    """Thousands of repositories are made here, and each waits for its disk: in memory there is nothing to wait for."""
    if "TMPDIR" not in os.environ and MEMORY.is_dir() and _is_spacious(MEMORY):
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None


def _is_spacious(place: Path) -> bool:
    forbids_programs = os.statvfs(place).f_flag & os.ST_NOEXEC
    return os.access(place, os.W_OK) and not forbids_programs and disk_usage(place).free > ROOM_BYTES


@pytest.fixture(autouse=True)
def _a_user_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty home, git settings with an identity, and a place for tmux servers where none may be left."""
    # A socket's path may have 107 bytes at most, so this cannot be the test's own deep directory.
    with TemporaryDirectory(prefix="llmc-", ignore_cleanup_errors=True) as directory:
        own = Path(directory)
        _isolate(monkeypatch, own)
        yield
        left = [name for name in end_servers(str(own / "tmux")) if name.startswith("llmc-")]
    assert not left, f"the test left tmux servers running: {', '.join(left)}"


def _isolate(monkeypatch: pytest.MonkeyPatch, own: Path) -> None:
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        monkeypatch.delenv(name)
    for part in ("home", "tmux", "run"):
        (own / part).mkdir(mode=0o700)
    settings = own / "home" / ".gitconfig"
    settings.write_text(GIT_SETTINGS)
    monkeypatch.setenv("HOME", str(own / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own / "home" / ".config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(own / "home" / ".local" / "share"))
    monkeypatch.setenv("XDG_STATE_HOME", str(own / "home" / ".local" / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(own / "home" / ".cache"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(own / "run"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("TMUX_TMPDIR", str(own / "tmux"))


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    with told_in(tmp_path) as story:
        yield story
