"""What other machines cost: beside a bare ssh over an open connection, 20 ms away, and thirty of them."""

from __future__ import annotations

import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from bench.measure import COLUMNS, take_turns
from bench.report import Table, Verdict
from bench.watchers import cpu_seconds
from llmc.daemon.process import running_daemon
from llmc.fleet.known import OK, read_known
from llmc.fleet.registry import Fleet, Member, change_fleet
from llmc.host.processes import is_running
from llmc.host.terminal import start_in_background
from llmc.root import Root
from llmc.store.config_file import set_table
from llmc.store.machine_file import Membership, write_membership
from testing.machines.at_hub import AtHub, hub_with
from testing.machines.three import NAMES, Machines, NoMachinesError, three_machines
from testing.namespace import PROJECT
from testing.roots import add_worker, make_repository, make_root, own_environment
from testing.waiting import wait_until

PROGRAM = str(Path(sys.executable).with_name("llmc"))
ROUND_TRIP_MS = 20.0
MOST_OF_SSH, MOST_OF_CORE, WORKERS_EACH = 1.5, 5.0, 10
PATIENCE_SECS = 300.0
NOTE = (
    "Three machines of namespaces with sshd on this one, in turns. ssh: `true` over an open connection, the slowest of"
    " the three. Each llmc is a process of its own; without machines: a root that has none. The hub's daemon runs."
)
FAR_NOTE = (
    "One machine behind a program that delays each direction by half of the round trip; the hub's daemon runs. Local:"
    " the same `llmc message` typed on the machine itself, to an agent that does nothing. Change: from the report of an"
    " agent to the hub's board."
)
REST_NOTE = (
    "The hub's daemon with machines that are roots on this one, reached by `--command`, ten workers each, nothing"
    " happening. Processor: of one core, with its ended children; the machines' own processes are not counted."
)


@dataclass(frozen=True, slots=True)
class Care:
    """How carefully it is measured."""

    rounds: int = 12
    numbers: tuple[int, ...] = (0, 10, 30)
    rest_secs: float = 20.0
    settles_secs: float = 5.0


def measure(care: Care | None = None) -> list[Table]:
    """Where there can be no three machines, only the hub at rest."""
    care = care or Care()
    tables = []
    try:
        with three_machines() as bed:
            tables = [_beside_ssh(bed, care.rounds), _far(bed, care.rounds)]
    except NoMachinesError as why:
        print(f"left out: three machines: {why}")
    return [*tables, _at_rest(care)]


# --- three machines -----------------------------------------------------------------------------------


def _beside_ssh(bed: Machines, rounds: int) -> Table:
    with hub_with(bed) as hub, tempfile.TemporaryDirectory() as directory:
        for name in NAMES:
            hub.seat(f"on-{name}", name)
        alone = Root(str(Path(directory, "alone")))
        hub.run("init", "--source", str(hub.repository), "--target", alone.path)
        env = hub.environment()

        def ssh(name: str) -> Callable[[], object]:
            argv = ("ssh", "-F", str(_configuration(hub, name)), "-T", name, "true")
            return lambda: bed.run(*argv, env=env)

        floors = take_turns({name: ssh(name) for name in NAMES}, floor=NAMES[0], rounds=rounds)
        slowest = max(floors, key=lambda each: each.median_ms).name
        actions = {
            f"ssh {slowest} true": ssh(slowest),
            "llmc status without machines": lambda: bed.run(PROGRAM, "--root", alone.path, "status", "--json", env=env),
            "llmc status of three machines": lambda: bed.run(PROGRAM, "status", "--json", env=env),
        }
        floor, plain, three = take_turns(actions, floor=next(iter(actions)), rounds=rounds)
        added = (three.median_ms - plain.median_ms) / floor.median_ms
        verdict = Verdict("status of three machines beside the local one", added, MOST_OF_SSH, "x ssh")
        return Table(
            "Status of three machines", COLUMNS, [each.row for each in (floor, plain, three)], (verdict,), NOTE
        )


def _configuration(hub: AtHub, name: str) -> Path | None:
    """The file of LLMC's own connection to it."""
    for each in Path(hub.sockets).glob("llmc-*/*.conf"):
        argv = ["ssh", "-F", str(each), "-O", "check", name]
        if hub.bed.run(*argv, env=hub.environment(), check=False).code == 0:
            return each
    return None


# --- one that is far away -----------------------------------------------------------------------------


def _far(bed: Machines, rounds: int) -> Table:
    with hub_with(bed, "m2") as hub:
        program = [sys.executable, str(PROJECT / "testing" / "far_reach.py"), str(ROUND_TRIP_MS / 2)]
        home = f"{bed['m2'].home}/far"
        prefix = shlex.join([*program, "ssh", "-F", str(_configuration(hub, "m2")), "m2", "sh", "-c"])
        hub.run("machine", "add", "far", "--command", prefix, "--home", home)
        hub.run("add", "away", "--machine", "far", "--agent", "remembering")
        hub.wait_for("away", status="idle", session="up")
        m2 = bed["m2"]
        env = hub.environment()
        words = ("message", "away", "demo:nothing", "--json")
        pauses: list[float] = []

        def settle() -> None:
            """So that the next one finds it idle."""
            hub.until(lambda: hub.worker("away")["turn"] != "open")

        def local() -> None:
            m2.run(PROGRAM, "--root", f"{home}/root", *words)

        def routed() -> None:
            bed.run(PROGRAM, *words, env=env)

        seconds: dict[str, list[float]] = {"local": [], "routed": []}
        for _ in range(rounds):
            for name, action in (("local", local), ("routed", routed)):
                settle()
                began = time.perf_counter()
                action()
                seconds[name].append((time.perf_counter() - began) * 1000)
            settle()
            (known,) = [each for each in read_known(Root(str(hub.root))) if each["name"] == "far"]
            (worker,) = known["document"]["workers"]
            pauses.append((known["heard_unix"] - worker["evidence"]["at_unix"]) * 1000)
        here, there, late = (statistics.median(each) for each in (seconds["local"], seconds["routed"], pauses))
        verdicts = (
            Verdict("a routed delivery beside the local one", there - here, ROUND_TRIP_MS, "ms"),
            Verdict("from an agent's report to the hub's board", late, ROUND_TRIP_MS + 100.0, "ms"),
        )
        rows = [("message, local", here), ("message, routed", there), ("a change at the hub's board", late)]
        return Table(f"A machine {ROUND_TRIP_MS:.0f} ms away", ("", "median ms"), rows, verdicts, FAR_NOTE)


# --- thirty of them -----------------------------------------------------------------------------------


def _at_rest(care: Care) -> Table:
    rows, verdicts = [], []
    for number in care.numbers:
        with _hub_of(number) as (root, pid):
            wait_until(lambda root=root, number=number: _answering(root) == number, PATIENCE_SECS)  # type: ignore[misc]
            time.sleep(care.settles_secs)
            began, spent = time.monotonic(), cpu_seconds(pid)
            time.sleep(care.rest_secs)
            percent = 100 * (cpu_seconds(pid) - spent) / (time.monotonic() - began)
            status = take_turns(
                {"status": lambda root=root: _status(root)},  # type: ignore[misc]
                floor="status",
                rounds=care.rounds,
            )[0]
            fds = len(os.listdir(f"/proc/{pid}/fd"))
            rows.append(
                (f"{number} machines", number * WORKERS_EACH, percent, _resident_mib(pid), fds, status.median_ms)
            )
        if number == care.numbers[-1]:
            what = f"a hub of {number} machines and {number * WORKERS_EACH} workers at rest"
            verdicts.append(Verdict(what, percent, MOST_OF_CORE, "% of a core"))
    columns = ("", "workers", "% of a core", "MiB", "open files", "status, ms")
    return Table("A hub at rest", columns, rows, tuple(verdicts), REST_NOTE)


@contextmanager
def _hub_of(number: int) -> Iterator[tuple[Root, int]]:
    with tempfile.TemporaryDirectory(prefix="llmc-b-", ignore_cleanup_errors=True) as directory:
        place = Path(directory)
        with own_environment(place / "home"):
            source = make_repository(place / "repository")
            root = make_root(place / "llmc", source)
            members = {f"n{each}": _machine(place, source, root, f"n{each}") for each in range(number)}
            if members:
                change_fleet(root, lambda fleet: Fleet(fleet.hub, MappingProxyType(members)))
                hub = json.loads(Path(root.machines).read_text())["hub"]
                for each in members.values():
                    write_membership(Root(each.root), Membership(hub, each.name, each.id, 1))
            argv = [sys.executable, "-P", "-m", "llmc.cli.main", "--root", root.path, "up"]
            pid = start_in_background(argv, root.daemon_log)
            try:
                wait_until(lambda: running_daemon(root), PATIENCE_SECS)
                yield root, pid
            finally:
                os.kill(pid, 15)
                wait_until(lambda: not is_running(pid), PATIENCE_SECS)


def _machine(place: Path, source: Path, hub: Root, name: str) -> Member:
    """A root of its own with workers whose agents do not run."""
    home = place / name
    home.mkdir()
    subprocess.run(["git", "clone", "--quiet", "--bare", str(source), str(home / "source.git")], check=True)
    root = make_root(home / "root", home / "source.git")
    for worker in range(WORKERS_EACH):
        add_worker(root, f"{name}w{worker}")
    set_table(hub.config_file, ("machines", name), {"command": "sh -c"})
    return Member(name, f"id-{name}", str(home), PROGRAM)


def _answering(root: Root) -> int:
    known = [each for each in read_known(root) if each.get("state") == OK]
    return sum(len((each.get("document") or {}).get("workers", ())) == WORKERS_EACH for each in known)


def _status(root: Root) -> None:
    subprocess.run([PROGRAM, "--root", root.path, "status", "--json"], check=True, stdout=subprocess.DEVNULL)


def _resident_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024
