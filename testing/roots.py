"""Real repositories and LLMC roots for tests, with no way to the settings of whoever runs them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from llmc.app import open_site
from llmc.git.clone import clone_source, fetch_source
from llmc.git.runner import Git
from llmc.git.worktree import add_worktree
from llmc.host.local import LocalHost
from llmc.model import Worker
from llmc.root import Root
from llmc.store.config_file import default_config_text
from llmc.store.state_file import StateFile
from llmc.tmux.server import Tmux

GLOBAL_CONFIG = """\
[user]
    name = Tess Ter
    email = tess@example.com
[init]
    defaultBranch = main
[gc]
    auto = 0
"""
FOREIGN = ("GIT_", "LLMC_", "TMUX", "XDG_", "CLAUDE", "CODEX", "GEMINI", "OPENCODE")


@contextmanager
def own_environment(home: Path) -> Iterator[None]:
    """A user of one's own: an empty home, one's own git settings, a place of one's own for tmux servers."""
    home.mkdir(parents=True, exist_ok=True)
    settings = home / "gitconfig"
    settings.write_text(GLOBAL_CONFIG)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    # A socket's path may have 107 bytes at most: the directory of a test is often too deep.
    with TemporaryDirectory(prefix="llmc-tmux-") as sockets:
        own = {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "GIT_CONFIG_GLOBAL": str(settings),
            "GIT_CONFIG_NOSYSTEM": "1",
            "TMUX_TMPDIR": sockets,
        }
        with patch.dict(os.environ, kept | own, clear=True):
            yield


def make_repository(path: Path) -> Path:
    """A user's repository: one commit on `main`, checked out."""
    git = Git(LocalHost())
    path.mkdir(parents=True)
    git.run(str(path), "init", "--quiet", "--initial-branch=main")
    (path / "README").write_text("one\ntwo\nthree\n")
    git.run(str(path), "add", "--all")
    git.run(str(path), "commit", "--quiet", "-m", "first")
    return path


def make_root(path: Path, source: Path) -> Root:
    """An LLMC root for that repository, without workers."""
    root = Root(str(path))
    path.mkdir(mode=0o700, parents=True)
    clone_source(Git(LocalHost()), str(source), root.path, "main")
    for directory in (root.worktrees, root.logs, root.inside("run", "locks")):
        Path(directory).mkdir(mode=0o700, parents=True)
    Path(root.config_file).write_text(default_config_text(str(source), "main"))
    StateFile(root.path).create()
    return root


def add_worker(root: Root, name: str = "adam", **fields: Any) -> Worker:  # noqa: ANN401 - any field of a worker
    """A worker with its worktree and branch, whose agent does not run."""
    site = open_site(root)
    tip = fetch_source(site.git, site.config.repo.source, root.path, site.config.repo.branch)
    path = add_worktree(site.git, root.path, name, f"llmc/{name}", tip)
    now = site.now()
    worker = Worker(name, path, f"llmc/{name}", f"llmc-{name}", "shell", now, now, base_sha=tip)
    worker = replace(worker, **fields)
    with site.ledger.events:
        site.ledger.add(worker)
    return worker


@contextmanager
def own_tmux(root: Root) -> Iterator[Tmux]:
    """The root's tmux server, which ends with the test."""
    tmux = Tmux(LocalHost(), root.tmux_socket)
    try:
        yield tmux
    finally:
        tmux.stop()
