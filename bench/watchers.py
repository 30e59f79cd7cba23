"""Who else can look after quiet terminals: a loop of bare tmux commands, libtmux, a server of an orchestrator."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.fleet import Fleet
from bench.libtmux_peer import poller
from bench.peers import LIBTMUX

PERIOD_SECS = 1
DAEMON = "llmc"
BARE = "bare tmux, one command a second"
Watcher = Callable[[], AbstractContextManager[int]]
"""Runs it for a while; gives its pid."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a quiet while, in seconds of CPU a minute."""

    own: float
    tmux: float
    memory_mb: float
    files: int
    threads: int

    @property
    def together(self) -> float:
        return self.own + self.tmux


def pollers(fleet: Fleet) -> dict[str, Watcher]:
    socket = fleet.site.root.tmux_socket
    found: dict[str, Watcher] = {BARE: partial(_bare, socket, [pane.id for pane in fleet.site.tmux.panes().values()])}
    if LIBTMUX.is_here:
        found[f"{LIBTMUX.title}, once a second"] = partial(poller, socket)
    return found


@contextmanager
def _bare(socket: str, panes: list[str]) -> Iterator[int]:
    """The least that a poll can be: one process lists all terminals and captures each of them."""
    captures = " \\; ".join(f"capture-pane -p -t {pane}" for pane in panes)
    look = f"tmux -L {shlex.quote(socket)} list-panes -a \\; {captures} >/dev/null"
    with subprocess.Popen(["sh", "-c", f"while :; do {look}; sleep {PERIOD_SECS}; done"]) as loop:
        try:
            yield loop.pid
        finally:
            loop.kill()


def cost_of(pid: int, tmux_server: int | None, secs: float) -> Cost:
    pids = [pid] if tmux_server is None else [pid, tmux_server]
    before, began = [cpu_seconds(each) for each in pids], time.monotonic()
    time.sleep(secs)
    minutes = (time.monotonic() - began) / 60
    own, *tmux = ((cpu_seconds(each) - first) / minutes for each, first in zip(pids, before, strict=True))
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    files = len(os.listdir(f"/proc/{pid}/fd"))
    return Cost(own, sum(tmux), int(status["VmRSS"].split()[0]) / 1024, files, int(status["Threads"]))


def cpu_seconds(pid: int) -> float:
    """With the children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
