"""A root with many workers whose agents sit quietly in real terminals, and the daemon that looks after them."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from llmc.app import open_site
from llmc.daemon.process import running_daemon
from llmc.git.clone import fetch_source
from llmc.git.worktree import add_worktree
from llmc.host.processes import is_running
from llmc.host.terminal import start_in_background
from llmc.model import Session, Turn, Worker
from llmc.root import Root
from llmc.site import Site
from llmc.store.config_file import set_value
from llmc.tmux.configuration import configuration
from testing.roots import make_repository, make_root, own_environment, own_tmux
from testing.waiting import wait_until

PROGRAM = ("sh", "-c", "printf '> '; exec cat")
QUIET = f"""
[agents.quiet]
command = {json.dumps(PROGRAM)}
pack = "generic"
"""
SIZE = (200, 50)
PATIENCE_SECS = 120.0


@dataclass(frozen=True, slots=True)
class Fleet:
    site: Site
    names: tuple[str, ...]
    daemon: int

    @property
    def tmux_server(self) -> int:
        return next(iter(self.site.tmux.panes().values())).server_pid


@contextmanager
def quiet_fleet(workers: int, *, patrol_secs: int, agents: str = "") -> Iterator[Fleet]:
    """`agents` are more tables of `config.toml`."""
    with tempfile.TemporaryDirectory(prefix="llmc-bench-", ignore_cleanup_errors=True) as directory:
        place = Path(directory)
        with own_environment(place / "home"):
            root = make_root(place / "llmc", make_repository(place / "repository"))
            with open(root.config_file, "a", encoding="utf-8") as config:
                config.write(QUIET + agents)
            set_value(root.config_file, "defaults.patrol_interval_secs", str(patrol_secs))
            with own_tmux(root), _daemon(root, _bring_up(root, workers)) as fleet:
                yield fleet


def _bring_up(root: Root, workers: int) -> tuple[str, ...]:
    """Without the time that real agents take to start: sessions and records as they would be afterwards."""
    site = open_site(root)
    Path(root.tmux_configuration).write_text(configuration(*SIZE))
    site.tmux.start(root.tmux_configuration)
    tip = fetch_source(site.git, site.config.repo.source, root.path, "main")
    names = tuple(f"worker{number}" for number in range(workers))
    with site.ledger.events:
        for name in names:
            site.ledger.add(seated(site, name, tip))
    return names


def seated(
    site: Site,
    name: str,
    tip: str,
    agent: str = "quiet",
    program: Sequence[str] = PROGRAM,
    env: Mapping[str, str] = MappingProxyType({}),
) -> Worker:
    """A worker at its place, as if its agent had come up."""
    path = add_worktree(site.git, site.root.path, name, f"llmc/{name}", tip)
    site.tmux.new_session(f"llmc-{name}", path, program, env, SIZE)
    now = site.now()
    worker = Worker(name, path, f"llmc/{name}", f"llmc-{name}", agent, now, now, base_sha=tip)
    return replace(worker, session=Session.UP, turn=Turn.OVER)


def change_of(root: Root, name: str) -> float:
    """When the terminal of that name has last changed, as far as anybody has noticed; zero before that."""
    try:
        return float(json.loads(Path(root.terminal(name), "status.json").read_text())["last_change_unix"])
    except (OSError, ValueError):
        return 0.0


@contextmanager
def _daemon(root: Root, names: tuple[str, ...]) -> Iterator[Fleet]:
    argv = [sys.executable, "-P", "-m", "llmc.cli.main", "--root", root.path, "up"]
    pid = start_in_background(argv, root.daemon_log)
    try:
        wait_until(lambda: running_daemon(root), PATIENCE_SECS)
        wait_until(lambda: all(change_of(root, name) for name in names), PATIENCE_SECS)
        yield Fleet(open_site(root), names, pid)
    finally:
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not is_running(pid), PATIENCE_SECS)
