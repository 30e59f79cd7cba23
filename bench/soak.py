"""Many terminals for a long while: the daemon must not grow, and no report may be missed.

`python -m bench.soak --minutes 15 --quiet 200 --busy 20`
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean, median

from bench.fleet import Fleet, quiet_fleet, seated
from llmc.git.clone import fetch_source
from llmc.host.processes import is_running
from testing.namespace import PROJECT
from testing.waiting import wait_until

BUSY = (sys.executable, "-m", "bench.soak", "busy")
BUSY_AGENT = f"""
[agents.busy]
command = {json.dumps(BUSY)}
pack = "generic"
events = true
"""
TURN_SECS = 2.0
SAMPLE_SECS = 5.0
WARM_UP_SECS = 300.0
"""By then caches are full, and what still grows grows for ever."""
GROWTH_MB = 1.0
"""From the second to the last third."""
GROWTH_MB_PER_HOUR = 6.0
"""Steadily, after the warm-up; looked for where that leaves as much time again."""
GROWTH_FILES = 4
LAST_WORDS = 20
CAUGHT_UP_SECS = 60.0


@dataclass(frozen=True, slots=True)
class Sample:
    at: float
    """In seconds, from the first one on."""
    memory_mb: float
    files: int


def be_busy() -> None:
    """The program in a busy terminal: it draws, and reports a prompt and the end of its turn, again and again."""
    spool, told = Path(os.environ["LLMC_SPOOL"]), Path(os.environ["LLMC_SOAK_TOLD"], os.environ["LLMC_WORKER"])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    for turn in range(sys.maxsize):
        digest = hashlib.sha256(f"{os.getpid()} {turn}".encode()).hexdigest()
        for event in ({"event": "prompt", "sha256": digest}, {"event": "turn_end"}):
            print(f"> {event['event']} {turn}", end="\r\n", flush=True)
            unfinished = spool / f".{turn}"
            unfinished.write_text(json.dumps(event))
            unfinished.rename(spool / f"{time.time_ns():020d}.json")
            time.sleep(TURN_SECS / 2)
        uncounted = told.with_name(f".{told.name}")
        uncounted.write_text(str(turn + 1))
        uncounted.rename(told)


def samples(fleet: Fleet, seconds: float) -> Iterator[Sample]:
    """For as long as the daemon runs."""
    began = time.monotonic()
    while (at := time.monotonic() - began) < seconds and is_running(fleet.daemon):
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{fleet.daemon}/status").read_text().splitlines())
        yield Sample(at, int(status["VmRSS"].split()[0]) / 1024, len(os.listdir(f"/proc/{fleet.daemon}/fd")))
        time.sleep(SAMPLE_SECS)


def growth(taken: list[Sample]) -> list[str]:
    """What is still more at the end than it was in the middle, and what becomes more and more."""
    third = max(1, len(taken) // 3)
    parts = (taken[:third], taken[third : 2 * third] or taken, taken[-third:])
    memory = [fmean(sample.memory_mb for sample in part) for part in parts]
    # The fewest: programs come and go, and take some with them for as long as they run.
    files = [min(sample.files for sample in part) for part in parts]
    steadily = trend(taken)
    print("memory in the first, second and last third: " + ", ".join(f"{each:.1f} MB" for each in memory))
    if steadily is not None:
        print(f"its trend after {WARM_UP_SECS / 60:.0f} minutes: {steadily:+.1f} MB per hour")
    print("open files, at the fewest: " + ", ".join(map(str, files)))
    grown = {
        f"the memory grew by {memory[2] - memory[1]:.1f} MB": memory[2] - memory[1] > GROWTH_MB,
        f"the memory grows by {steadily or 0:.1f} MB per hour": (steadily or 0) > GROWTH_MB_PER_HOUR,
        f"{files[2] - files[1]} more open files": files[2] - files[1] > GROWTH_FILES,
    }
    return [what for what, so in grown.items() if so]


def trend(taken: list[Sample]) -> float | None:
    """In MB per hour: the median of the slopes between any two samples. None when there was too little time.

    Memory is taken in pieces, and the bar must not depend on when one was: a single step does not move the median.
    """
    warm = [sample for sample in taken if sample.at >= WARM_UP_SECS]
    if not warm or taken[-1].at < 2 * WARM_UP_SECS:
        return None
    return 3600 * median((b.memory_mb - a.memory_mb) / (b.at - a.at) for a, b in combinations(warm, 2))


def missed(fleet: Fleet, told: Path, names: tuple[str, ...]) -> list[str]:
    """Prompts that a busy terminal reported and the log does not have."""

    def logged() -> Counter[str]:
        events = fleet.site.ledger.events.recent(limit=10_000_000)
        return Counter(event.worker for event in events if event.signal == "hook.prompt")

    reported = {name: int((told / name).read_text()) for name in names}
    try:
        wait_until(lambda: all(logged()[name] >= count for name, count in reported.items()), CAUGHT_UP_SECS)
    except AssertionError:
        known = logged()
        return [
            f"{name} reported {n} prompts, {known[name]} are known" for name, n in reported.items() if known[name] < n
        ]
    print(f"reports: {sum(reported.values())} prompts, all known")
    return []


def seat_busy(fleet: Fleet, count: int, told: Path) -> tuple[str, ...]:
    """Workers are added while the daemon runs, as a person would."""
    site = fleet.site
    told.mkdir()
    tip = fetch_source(site.git, site.config.repo.source, site.root.path, "main")
    names = tuple(f"busy{number}" for number in range(count))
    for name in names:
        spool = site.root.spool(name)
        site.host.make_dir(spool)
        env = {"PYTHONPATH": str(PROJECT), "LLMC_SOAK_TOLD": str(told), "LLMC_WORKER": name, "LLMC_SPOOL": spool}
        site.ledger.add(seated(site, name, tip, "busy", BUSY, env))
    return names


def last_words(fleet: Fleet) -> list[str]:
    return Path(fleet.site.root.daemon_log).read_text(errors="replace").splitlines()[-LAST_WORDS:]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--quiet", type=int, default=200)
    parser.add_argument("--busy", type=int, default=20)
    words = parser.parse_args()
    with quiet_fleet(words.quiet, patrol_secs=60, agents=BUSY_AGENT) as fleet:
        told = Path(fleet.site.root.path, "told")
        names = seat_busy(fleet, words.busy, told)
        wait_until(lambda: all((told / name).exists() for name in names), CAUGHT_UP_SECS)
        taken = list(samples(fleet, words.minutes * 60))
        if is_running(fleet.daemon):
            wrong = growth(taken) + missed(fleet, told, names)
        else:
            wrong = ["the daemon has ended; its last words:", *last_words(fleet)]
    print("\n".join(wrong) or "nothing grew, nothing was missed")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["busy"]:
        be_busy()
    sys.exit(main())
