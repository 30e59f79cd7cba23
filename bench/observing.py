"""What it costs to look after many quiet terminals, and how soon the daemon knows of what happens in one of them.

Next to it, on the same terminals: the least that polling costs, and what it costs with libtmux.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.fleet import Fleet, change_of, quiet_fleet
from bench.measure import spread
from bench.orchestrator import orchestrator_server
from bench.peers import LIBTMUX, ORCHESTRATOR, absences
from bench.report import Cell, Table, Verdict
from bench.watchers import DAEMON, Cost, cost_of, pollers
from llmc.host.watch import open_watch, wait_for_change
from llmc.model import Session, Worker

COUNTS = (1, 10, 50, 200)
CPU_LIMIT = 1.2
"""Two percent of a core."""
SOON_MS = 250.0
COMMIT_MS = 1000.0

COST = (
    "workers",
    "who",
    "own CPU s/min",
    "tmux s/min",
    "together s/min",
    "±",
    "x llmc",
    "memory MB",
    "files",
    "threads",
)
DELAY = ("workers", "what", "median ms", "± ms", "longest ms")
NOTE = (
    "They take turns on the same terminals; each turn of llmc has a patrol in it (usually there is one in a minute)."
    " Polling sees a change after half a second in the middle and says nothing of commits; llmc is told by tmux, the"
    " kernel and the agent. The daemon runs on while the others have their turn, which adds its share to their tmux."
)


@dataclass(frozen=True, slots=True)
class Pace:
    settled_secs: float = 6.0
    """After that no screen is looked at any more because it has just changed."""
    quiet_secs: int = 20
    """A turn of the daemon, and the time between two patrols."""
    polled_secs: float = 6.0
    """A turn of anybody else, who does the same every second."""
    turns: int = 2
    tries: int = 5


def measure(counts: tuple[int, ...] = COUNTS, pace: Pace | None = None) -> list[Table]:
    pace = pace or Pace()
    costs: list[tuple[Cell, ...]] = []
    delays: list[tuple[Cell, ...]] = []
    verdicts: list[Verdict] = []
    busiest = 0.0
    for count in counts:
        with quiet_fleet(count, patrol_secs=pace.quiet_secs) as fleet:
            time.sleep(pace.settled_secs)
            found = _costs(fleet, pace)
            costs += [(count, who, *_cells(turns, found[DAEMON])) for who, turns in found.items()]
            busiest = max(busiest, spread([cost.together for cost in found[DAEMON]]).median)
            for what, taken in _delays(fleet, pace.tries).items():
                delays.append((count, what, spread(taken).median, spread(taken).between, max(taken)))
                limit = COMMIT_MS if what == "a commit" else SOON_MS
                verdicts.append(Verdict(f"{what}, {count} workers", spread(taken).median, limit, "ms"))
    quiet = Verdict(f"the busiest of up to {max(counts)} quiet workers", busiest, CPU_LIMIT, "s of CPU a minute")
    note = " ".join(filter(None, (NOTE, absences(LIBTMUX, ORCHESTRATOR))))
    title = f"Quiet workers, {pace.turns} turns of {pace.quiet_secs} s (llmc) and {pace.polled_secs:g} s (others)"
    return [
        Table(title, COST, costs + _idle_orchestrator(pace), (quiet,), note),
        Table("Until the daemon knows", DELAY, delays, tuple(verdicts)),
    ]


def _costs(fleet: Fleet, pace: Pace) -> dict[str, list[Cost]]:
    server = fleet.tmux_server
    found: dict[str, list[Cost]] = {}
    for _ in range(pace.turns):
        found.setdefault(DAEMON, []).append(cost_of(fleet.daemon, server, pace.quiet_secs))
        for who, watcher in pollers(fleet).items():
            with watcher() as pid:
                found.setdefault(who, []).append(cost_of(pid, server, pace.polled_secs))
    return found


def _cells(turns: Sequence[Cost], ours: Sequence[Cost]) -> tuple[Cell, ...]:
    together, own_daemon = (spread([cost.together for cost in each]) for each in (turns, ours))
    own, tmux, memory = (
        spread([getattr(cost, part) for cost in turns]).median for part in ("own", "tmux", "memory_mb")
    )
    ratio = together.median / own_daemon.median if own_daemon.median else None
    return own, tmux, together.median, together.between, ratio, memory, turns[-1].files, turns[-1].threads


def _idle_orchestrator(pace: Pace) -> list[tuple[Cell, ...]]:
    """Without sessions: with some it would have to start real agents."""
    if not ORCHESTRATOR.is_here:
        return []
    with (
        tempfile.TemporaryDirectory(prefix="llmc-b-", ignore_cleanup_errors=True) as place,
        orchestrator_server(Path(place, "home")) as (pid, _),
    ):
        turns = [cost_of(pid, None, pace.polled_secs) for _ in range(pace.turns)]
    own = spread([cost.own for cost in turns])
    last = turns[-1]
    return [
        (
            0,
            f"{ORCHESTRATOR.title}, no sessions",
            own.median,
            None,
            own.median,
            own.between,
            None,
            last.memory_mb,
            last.files,
            last.threads,
        )
    ]


def _delays(fleet: Fleet, tries: int) -> dict[str, list[float]]:
    """In milliseconds. The last two end the agent, so each try has a worker of its own where there are enough."""
    names = fleet.names[: 2 * tries]
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
    before = change_of(site.root, name)
    pane = site.tmux.panes()[f"llmc-{name}"].id
    return _until(
        site.root.terminal(name),
        lambda: site.tmux.press(pane, "x", "Enter"),
        lambda: change_of(site.root, name) != before,
    )


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
