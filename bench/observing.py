"""What it costs to look after many quiet terminals, and how soon the daemon knows of what happens in one of them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.fleet import Fleet, quiet_fleet
from bench.measure import spread
from bench.report import Table, Verdict
from llmc.host.watch import open_watch, wait_for_change
from llmc.model import Session, Worker

COUNTS = (1, 10, 50, 200)
SETTLED_SECS = 6.0
"""After that no screen is looked at any more because it has just changed."""
QUIET_SECS = 30
"""Also the time between two patrols, so that one falls into it; usually there is one in a minute."""
TRIES = 5
CPU_LIMIT = 2.0
SOON_MS = 250.0
COMMIT_MS = 1000.0

COST = ("workers", "daemon CPU %", "tmux CPU %", "together %", "memory MB", "files", "threads")
DELAY = ("workers", "what", "median ms", "± ms", "longest ms")


@dataclass(frozen=True, slots=True)
class Cost:
    daemon: float
    tmux: float
    memory_mb: float
    files: int
    threads: int


def measure(counts: tuple[int, ...] = COUNTS) -> list[Table]:
    costs: list[tuple[int | float, ...]] = []
    delays: list[tuple[int | float | str, ...]] = []
    verdicts: list[Verdict] = []
    for count in counts:
        with quiet_fleet(count, patrol_secs=QUIET_SECS) as fleet:
            time.sleep(SETTLED_SECS)
            cost = _cost(fleet)
            together = cost.daemon + cost.tmux
            costs.append((count, cost.daemon, cost.tmux, together, cost.memory_mb, cost.files, cost.threads))
            for what, taken in _delays(fleet).items():
                delays.append((count, what, spread(taken).median, spread(taken).between, max(taken)))
                limit = COMMIT_MS if what == "a commit" else SOON_MS
                verdicts.append(Verdict(f"{what}, {count} workers", spread(taken).median, limit, "ms"))
    busiest = max(row[3] for row in costs)
    quiet = Verdict(f"{max(counts)} quiet workers", float(busiest), CPU_LIMIT, "% of a core")
    return [
        Table(f"Quiet workers for {QUIET_SECS} s, one patrol among it", COST, costs, (quiet,)),
        Table("Until the daemon knows", DELAY, delays, tuple(verdicts)),
    ]


def _cost(fleet: Fleet) -> Cost:
    server = fleet.tmux_server
    before, began = (_cpu(fleet.daemon), _cpu(server)), time.monotonic()
    time.sleep(QUIET_SECS)
    took = time.monotonic() - began
    daemon, tmux = (100 * (_cpu(pid) - first) / took for pid, first in zip((fleet.daemon, server), before, strict=True))
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{fleet.daemon}/status").read_text().splitlines())
    files = len(os.listdir(f"/proc/{fleet.daemon}/fd"))
    return Cost(daemon, tmux, int(status["VmRSS"].split()[0]) / 1024, files, int(status["Threads"]))


def _cpu(pid: int) -> float:
    """Seconds, with the children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _delays(fleet: Fleet) -> dict[str, list[float]]:
    """In milliseconds. The last two end the agent, so each try has a worker of its own where there are enough."""
    names = fleet.names[: 2 * TRIES]
    found: dict[str, list[float]] = {}
    for name in names:
        for what, delay in _tries(fleet, name):
            found.setdefault(what, []).append(delay * 1000)
    for number, name in enumerate(names):
        end = _vanishes if number % 2 else _dies
        found.setdefault("a session vanishes" if number % 2 else "an agent dies", []).append(end(fleet, name) * 1000)
    return found


def _tries(fleet: Fleet, name: str) -> Iterator[tuple[str, float]]:
    yield "a screen changes", _screen_changes(fleet, name)
    yield "a commit", _commits(fleet, name)
    yield "a report", _reports(fleet, name)


def _screen_changes(fleet: Fleet, name: str) -> float:
    site = fleet.site
    seen = Path(site.root.attention_file(name))
    before = seen.read_bytes()
    pane = site.tmux.panes()[f"llmc-{name}"].id
    return _until(str(seen.parent), lambda: site.tmux.press(pane, "x", "Enter"), lambda: seen.read_bytes() != before)


def _commits(fleet: Fleet, name: str) -> float:
    worktree = fleet.site.root.worktree(name)
    Path(worktree, "work").write_text(name)
    subprocess.run(["git", "add", "work"], cwd=worktree, check=True)
    commit = ["git", "commit", "--quiet", "-m", "work"]
    return _known(
        fleet, name, lambda: subprocess.run(commit, cwd=worktree, check=True), lambda w: w.commit_sha is not None
    )


def _reports(fleet: Fleet, name: str) -> float:
    unfinished = Path(fleet.site.root.spool(name), ".report")
    unfinished.write_text('{"event": "question", "text": "which one?"}')
    return _known(
        fleet, name, lambda: unfinished.rename(unfinished.with_name("1.json")), lambda worker: worker.reports_events
    )


def _dies(fleet: Fleet, name: str) -> float:
    pid = fleet.site.tmux.panes()[f"llmc-{name}"].pid
    return _known(fleet, name, lambda: os.kill(pid, signal.SIGKILL), lambda worker: worker.session is Session.CRASHED)


def _vanishes(fleet: Fleet, name: str) -> float:
    def kill() -> None:
        fleet.site.tmux.kill_session(f"llmc-{name}")

    return _known(fleet, name, kill, lambda worker: worker.session is Session.DOWN)


def _known(fleet: Fleet, name: str, do: Callable[[], object], arrived: Callable[[Worker], bool]) -> float:
    return _until(fleet.site.root.path, do, lambda: arrived(fleet.site.worker(name)))


def _until(directory: str, do: Callable[[], object], arrived: Callable[[], bool]) -> float:
    """Seconds from what was done to what came of it."""
    watch = open_watch()
    watch.add(directory, "directory")
    try:
        do()
        began = time.monotonic()
        while not arrived():
            wait_for_change(watch, 1.0)
            assert time.monotonic() < began + 60, "the daemon does not notice"
        return time.monotonic() - began
    finally:
        watch.close()
