"""What it costs to watch many terminals, and how soon a change is in the cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.fleet import change_of
from bench.measure import spread
from bench.report import Table, Verdict
from bench.watchers import cpu_seconds
from llmc.host.local import LocalHost
from llmc.root import Root
from llmc.store.terminals import KnownTerminal, Terminals
from llmc.tmux.server import Tmux
from testing.roots import own_environment

LIMIT_PERCENT = 5.0
LIMIT_SECS = 1.0
LLMC = (sys.executable, "-P", "-m", "llmc.cli.main")


def open_terminals(root: Root, count: int) -> list[KnownTerminal]:
    """Light ones: `cat`, which shows what is typed."""
    tmux = Tmux(LocalHost(), "llmc-bench")
    subprocess.run(
        ["tmux", "-L", "llmc-bench", "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "cat"], check=True
    )
    for first in range(1, count, 50):
        words = [word for _ in range(first, min(count, first + 50)) for word in ("new-window", "-d", "cat", ";")]
        subprocess.run(["tmux", "-L", "llmc-bench", *words[:-1]], check=True)
    server = tmux.run("display-message", "-p", "#{socket_path}").text.strip()
    terminals = [
        KnownTerminal(f"t{n}", server, p.server_pid, p.id, p.session, p.window, "/", "", True, time.time())
        for n, p in enumerate(tmux.all_panes())
    ]
    known = Terminals(root)
    with known.lock():
        for terminal in terminals:
            known.add(terminal)
    return terminals


def latency(root: Root, terminal: KnownTerminal) -> float:
    before, began = change_of(root, terminal.id), time.monotonic()
    subprocess.run(["tmux", "-S", terminal.server, "send-keys", "-t", terminal.pane, "x", "Enter"], check=True)
    while change_of(root, terminal.id) == before and time.monotonic() - began < 30:
        time.sleep(0.005)
    return time.monotonic() - began


def measure(count: int = 200, secs: float = 20.0, settled_secs: float = 10.0) -> list[Table]:
    with tempfile.TemporaryDirectory(prefix="llmc-b-") as place, own_environment(Path(place, "home")):
        root = Root(os.path.join(place, "llmc"))
        own, server, latencies = _measure(root, count, secs, settled_secs)
    figures = spread(latencies)
    return [
        Table(
            f"Watching terminals at rest for {secs:.0f} s",
            ("terminals", "watcher CPU %", "tmux CPU %", "until seen, median s", "± s", "longest s"),
            [(count, own, server, figures.median, figures.between, max(latencies))],
            (
                Verdict(f"{count} quiet terminals", own + server, LIMIT_PERCENT, "% of a core"),
                Verdict("a change is in the cache", max(latencies), LIMIT_SECS, "s"),
            ),
        )
    ]


def _measure(root: Root, count: int, secs: float, settled_secs: float) -> tuple[float, float, list[float]]:
    """Percent of a core of the watcher and of the tmux server at rest, and the latencies."""
    terminals = open_terminals(root, count)
    watcher = subprocess.Popen([*LLMC, "--root", root.path, "pty", "watch"])
    try:
        while not all(change_of(root, terminal.id) for terminal in terminals):
            time.sleep(0.1)
        time.sleep(settled_secs)  # until they are at rest
        pids = (watcher.pid, terminals[0].server_pid)
        before = [cpu_seconds(pid) for pid in pids]
        time.sleep(secs)
        own, server = (100 * (cpu_seconds(pid) - was) / secs for pid, was in zip(pids, before, strict=True))
        return own, server, [latency(root, terminal) for terminal in terminals[:: max(1, count // 20)]]
    finally:
        watcher.terminate()
        watcher.wait()
        subprocess.run(["tmux", "-L", "llmc-bench", "kill-server"], check=False)
