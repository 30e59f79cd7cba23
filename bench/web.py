"""The board in the browser with many workers, some of them spinning: how soon a viewer sees it, and at what cost."""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from urllib.parse import urljoin

from websockets.asyncio.client import ClientConnection

from bench.fleet import Fleet, quiet_fleet
from bench.orchestrator import orchestrator_server
from bench.peers import ORCHESTRATOR
from bench.report import Cell, Table, Verdict
from bench.watchers import cpu_seconds
from llmc.store.event_log import LoggedEvent
from testing.served import Served, Stream, serving

SPINS_PER_SEC = 10
TERMINALS = 4
PATIENCE_SECS = 30.0
LIMITS = {"median ms": 250.0, "p95 ms": 600.0}
CPU_LIMITS = {"one viewer of the board": 5.0, f"and {TERMINALS} live terminals": 15.0}
MEMORY_MB, PAGE_KB = 120.0, 100.0
NOTE = (
    "The daemon watches the same workers meanwhile. A change in a pane is written to its terminal, as its program does,"
    " and seen when its text is in what a viewer of that terminal gets; an event is written to the log, and seen on the"
    " stream. CPU counts the server with all that it starts, the first page everything that it loads, compressed."
)


def measure(workers: int = 100, spinning: int = 20, tries: int = 40, secs: float = 20.0) -> list[Table]:
    with quiet_fleet(workers, patrol_secs=60) as fleet, serving(fleet.site.root) as served:
        rest = _at_rest(served.process.pid, secs)
        ttys = [pane.tty for pane in fleet.site.tmux.panes().values()]
        with _spinning(ttys[:spinning]):
            delays, costs = asyncio.run(_measured(fleet, served, tries, secs))
        memory, page = _memory_mb(served.process.pid), _first_page_kb(served)
    tables = [_delays(delays, workers, spinning, tries), _costs(costs, memory, page, secs)]
    return [*tables, _servers(rest, workers, secs)]


def _servers(rest: tuple[float, float], workers: int, secs: float) -> Table:
    """Beside another server at rest. With sessions the other one would have to start real agents."""
    rows: list[tuple[Cell, ...]] = [(f"llmc web, {workers} workers at rest", *rest, 1.0)]
    if ORCHESTRATOR.is_here:
        with (
            tempfile.TemporaryDirectory(prefix="llmc-b-", ignore_cleanup_errors=True) as place,
            orchestrator_server(Path(place, "home")) as (pid, _),
        ):
            other = _at_rest(pid, secs)
        rows.append((f"{ORCHESTRATOR.title}, no sessions", *other, other[1] / rest[1]))
    return Table("Servers that nobody looks at", ("", "CPU % of a core", "memory MB", "memory x llmc"), rows)


def _at_rest(pid: int, secs: float) -> tuple[float, float]:
    before, began = cpu_seconds(pid), time.monotonic()
    time.sleep(secs)
    percent = (cpu_seconds(pid) - before) / (time.monotonic() - began) * 100
    return percent, _memory_mb(pid)


def _delays(delays: dict[str, list[float]], workers: int, spinning: int, tries: int) -> Table:
    figures = {name: (statistics.median(taken), _p95(taken), max(taken)) for name, taken in delays.items()}
    verdicts = tuple(
        Verdict(f"{name}, {what}", figures[name][n], limit, "ms")
        for name in figures
        for n, (what, limit) in enumerate(LIMITS.items())
    )
    title = f"The web board with {workers} workers, {spinning} of them spinning: until it is seen"
    rows: list[tuple[Cell, ...]] = [(name, *three) for name, three in figures.items()]
    return Table(title, ("", "median ms", "p95 ms", "longest ms"), rows, verdicts, f"{tries} tries. {NOTE}")


def _costs(costs: dict[str, float], memory: float, page: float, secs: float) -> Table:
    rows: list[tuple[Cell, ...]] = [
        *((f"CPU, {name}", percent, "% of a core") for name, percent in costs.items()),
        ("memory", memory, "MB"),
        ("first page, compressed", page, "KB"),
    ]
    verdicts = (
        *(Verdict(name, costs[name], limit, "% of a core") for name, limit in CPU_LIMITS.items()),
        Verdict("memory", memory, MEMORY_MB, "MB"),
        Verdict("first page", page, PAGE_KB, "KB"),
    )
    return Table(f"What the web server costs, over {secs:.0f} s each", ("", "measured", "unit"), rows, verdicts)


@contextmanager
def _spinning(ttys: list[str]) -> Iterator[None]:
    """What a busy agent shows: a line that changes ten times a second."""
    over = threading.Event()

    def spin() -> None:
        number = 0
        while not over.wait(1 / SPINS_PER_SEC):
            number += 1
            for tty in ttys:
                _write(tty, f"\r* Working ({number})")

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _write(tty: str, text: str) -> None:
    fd = os.open(tty, os.O_WRONLY | os.O_NOCTTY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


async def _measured(
    fleet: Fleet, served: Served, tries: int, secs: float
) -> tuple[dict[str, list[float]], dict[str, float]]:
    costs: dict[str, float] = {}
    panes = fleet.site.tmux.panes()
    async with AsyncExitStack() as stack:
        stream = await stack.enter_async_context(served.stream())
        await stream.event()
        with _drained(_all_events(stream)):
            costs["one viewer of the board"] = await _cpu(served, secs)
        seen = [await stack.enter_async_context(served.terminal(name)) for name in fleet.names[:TERMINALS]]
        with _drained(*map(_all_frames, seen)), _drained(_all_events(stream)):
            costs[f"and {TERMINALS} live terminals"] = await _cpu(served, secs)
        name = fleet.names[-1]
        quiet = await stack.enter_async_context(served.terminal(name))
        await _seen(quiet, lambda text: "\x1bc" in text)
        tty = panes[f"llmc-{name}"].tty
        delays: dict[str, list[float]] = {"a change in a pane": [], "an event": []}
        for number in range(tries):
            await asyncio.sleep(0.3)
            mark = f"mark-{number}-"
            with _drained(*map(_all_frames, seen)), _drained(_all_events(stream)):
                delays["a change in a pane"].append(
                    await _timed(
                        lambda mark=mark: _write(tty, mark),  # type: ignore[misc]
                        lambda mark=mark: _seen(quiet, lambda text: mark in text),  # type: ignore[misc]
                    )
                )
            with _drained(*map(_all_frames, seen)):
                event = LoggedEvent(time.time(), name, "note", detail=mark)
                delays["an event"].append(
                    await _timed(
                        lambda event=event: fleet.site.ledger.events.append(event),  # type: ignore[misc]
                        lambda mark=mark: stream.until(mark),  # type: ignore[misc]
                    )
                )
    return delays, costs


async def _timed(act: Callable[[], object], seen: Callable[[], Awaitable[object]]) -> float:
    began = time.monotonic()
    act()
    await asyncio.wait_for(seen(), PATIENCE_SECS)
    return (time.monotonic() - began) * 1000


async def _cpu(served: Served, secs: float) -> float:
    before, began = cpu_seconds(served.process.pid), time.monotonic()
    await asyncio.sleep(secs)
    return (cpu_seconds(served.process.pid) - before) / (time.monotonic() - began) * 100


@contextmanager
def _drained(*readers: Awaitable[None]) -> Iterator[None]:
    """Viewers read all the time."""
    tasks = [asyncio.ensure_future(reader) for reader in readers]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


async def _all_events(stream: Stream) -> None:
    while True:
        await stream.event()


async def _all_frames(socket: ClientConnection) -> None:
    while True:
        await socket.recv()


async def _seen(socket: ClientConnection, wanted: Callable[[str], bool]) -> None:
    text = ""
    while not wanted(text):
        message = await socket.recv()
        text += message.decode() if isinstance(message, bytes) else ""


def _p95(figures: list[float]) -> float:
    return sorted(figures)[max(0, round(len(figures) * 0.95) - 1)]


def _memory_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def _first_page_kb(served: Served) -> float:
    """With the scripts, styles and pictures that it names, each once."""
    compressed = {**served.bearer, "Accept-Encoding": "gzip"}
    page = served.ask("GET", "/", None, compressed)
    text = served.ask("GET", "/").body.decode()
    named = {
        urljoin("/", path) for path in re.findall(r'(?:src|href)="([^"#]+\.(?:js|css|svg|png|webmanifest)[^"]*)"', text)
    }
    parts = [served.ask("GET", path, None, compressed) for path in sorted(named)]
    return (len(page.body) + sum(len(part.body) for part in parts if part.status == 200)) / 1000
